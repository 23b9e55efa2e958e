// A command such as `ops webhooks`, which does nothing but hold others.
import { CommandRunner } from 'nest-commander';
import { WrongInput } from './operator.js';

export abstract class CommandGroup extends CommandRunner {
  /** Options after a command that does not exist are not what is wrong. `help` is no command here unless one asks for it. */
  override setCommand(command: Parameters<CommandRunner['setCommand']>[0]): this {
    return super.setCommand(command.allowUnknownOption().addHelpCommand());
  }

  /** Only called when what was typed names none of the commands held. */
  override async run([unknown]: string[]): Promise<void> {
    const usage = this.command.helpInformation().trimEnd();
    throw new WrongInput(
      unknown === undefined ? usage : `There is no command ${this.command.name()} ${unknown}.\n\n${usage}`,
    );
  }
}
