// A command such as `ops webhooks`, which only groups other commands.
import { CommandRunner } from 'nest-commander';
import { WrongInput } from './operator.js';

export abstract class CommandGroup extends CommandRunner {
  /** Allows unknown options, so that the error names the unknown command. Commander adds the command `help` only on request. */
  override setCommand(command: Parameters<CommandRunner['setCommand']>[0]): this {
    return super.setCommand(command.allowUnknownOption().addHelpCommand());
  }

  /** Called only when the operator's words name none of the group's commands. */
  override async run([unknown]: string[]): Promise<void> {
    const usage = this.command.helpInformation().trimEnd();
    throw new WrongInput(
      unknown === undefined ? usage : `There is no command ${this.command.name()} ${unknown}.\n\n${usage}`,
    );
  }
}
