// ops vault rewrap
import { Command, SubCommand } from 'nest-commander';
import { Vault } from '../ports/vault.js';
import { CommandGroup } from './command-group.js';
import { print } from './output.js';
import { OperatorCommand } from './operator-command.js';

@SubCommand({
  name: 'rewrap',
  description:
    'Wrap all keys of the vault under the first master key and test each; the other master keys are then no longer needed',
})
export class RewrapVaultCommand extends OperatorCommand {
  constructor(private readonly vault: Vault) {
    super();
  }

  override async run(): Promise<void> {
    print(await this.vault.rewrap());
  }
}

@Command({ name: 'vault', description: 'The keys of encrypted data', subCommands: [RewrapVaultCommand] })
export class VaultCommand extends CommandGroup {}
