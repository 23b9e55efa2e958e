// The operator command line: `npm run ops -- <command>`. `--help` lists the commands.
import 'reflect-metadata';
import './without-questions.js';
import { CommandFactory } from 'nest-commander';
import { readConfig } from '../config/config.js';
import { InvalidConfig } from '../config/variables.js';
import { createLog } from '../platform/observability/log.js';
import { findVendors, VendorRegistry } from '../vendor-kit/registry.js';
import { endWithReader, tell, WrongInput } from './operator.js';
import { endTable, printAsJson } from './output.js';
import { chosenBy, OpsModule } from './ops.module.js';

async function main(): Promise<void> {
  endWithReader();
  printAsJson(process.argv.includes('--json'));
  process.argv = process.argv.filter((word) => word !== '--json');
  const chosen = chosenBy(process.argv.slice(2));
  const vendors = chosen.vendors ? await findVendors() : [];
  const config = readConfig(process.env, { tools: true, vendors });
  // Standard output contains only results.
  const log = createLog('silent', 'ops', { write: () => undefined });
  const options = { cliName: 'ops', serviceErrorHandler: tell, abortOnError: false };
  const registry = new VendorRegistry(vendors, config.vendors.byId);
  const root = await OpsModule.forRoot(chosen, { config, vendors: registry, log });
  await CommandFactory.run(root as never, options);
  endTable();
}

await main().catch((error: unknown) => tell(error instanceof InvalidConfig ? new WrongInput(error.message) : error));
