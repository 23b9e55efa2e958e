// What every single operator command has in common.
import { CommandRunner } from 'nest-commander';

/** Refuses more arguments than it takes, instead of leaving some out silently, and shows its usage with what was wrong. */
export abstract class OperatorCommand extends CommandRunner {
  override setCommand(command: Parameters<CommandRunner['setCommand']>[0]): this {
    return super.setCommand(command.allowExcessArguments(false).showHelpAfterError());
  }
}
