// The base class of every single operator command.
import { CommandRunner } from 'nest-commander';

/** Refuses additional arguments instead of ignoring them, and shows the usage with the fault. */
export abstract class OperatorCommand extends CommandRunner {
  override setCommand(command: Parameters<CommandRunner['setCommand']>[0]): this {
    // Shown in the help. The program takes it off the command line before it reads the options of a command.
    const withJson = command.option('--json', 'print JSON on a terminal too, one object on each line');
    return super.setCommand(withJson.allowExcessArguments(false).showHelpAfterError());
  }
}

/** A command that only shows something. It may ask only for the modules of `readModels` in imports.ts, or of its group's `shownFrom`. */
export abstract class ShowingCommand extends OperatorCommand {}
