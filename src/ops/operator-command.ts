// The base class of every single operator command.
import { CommandRunner } from 'nest-commander';

/** Refuses additional arguments instead of ignoring them, and shows the usage with the fault. */
export abstract class OperatorCommand extends CommandRunner {
  override setCommand(command: Parameters<CommandRunner['setCommand']>[0]): this {
    return super.setCommand(command.allowExcessArguments(false).showHelpAfterError());
  }
}

/** A command that only shows what the read models hold. It may ask for nothing but the modules of `readModels` in imports.ts. */
export abstract class ShowingCommand extends OperatorCommand {}
