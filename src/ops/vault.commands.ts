// ops vault rewrap
import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { Vault } from '../ports/vault.js';
import { CommandGroup } from './command-group.js';
import { print } from './operator.js';

@SubCommand({ name: 'rewrap', description: 'Wrap every key of the vault anew under the first master key, and open each; then the other master keys are needed no more' })
export class RewrapVaultCommand extends CommandRunner {
  constructor(private readonly vault: Vault) {
    super();
  }

  override async run(): Promise<void> {
    print(await this.vault.rewrap());
  }
}

@Command({ name: 'vault', description: 'The keys of what is kept encrypted', subCommands: [RewrapVaultCommand] })
export class VaultCommand extends CommandGroup {}
