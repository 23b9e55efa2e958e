// ops vault rewrap
import { Command, SubCommand } from 'nest-commander';
import { Vault } from '../ports/vault.js';
import { CommandGroup } from './command-group.js';
import { print } from './operator.js';
import { OperatorCommand } from './operator-command.js';

@SubCommand({
  name: 'rewrap',
  description:
    'Wrap every key of the vault anew under the first master key, and open each; then the other master keys are needed no more',
})
export class RewrapVaultCommand extends OperatorCommand {
  constructor(private readonly vault: Vault) {
    super();
  }

  override async run(): Promise<void> {
    print(await this.vault.rewrap());
  }
}

@Command({ name: 'vault', description: 'The keys of what is kept encrypted', subCommands: [RewrapVaultCommand] })
export class VaultCommand extends CommandGroup {}
