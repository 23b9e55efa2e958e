// The operator command line: `npm run ops -- <command>`. `--help` lists the commands.
import 'reflect-metadata';
import { CommandFactory } from 'nest-commander';
import { assemble } from '../app.module.js';
import { InvalidConfig, readConfig } from '../config.js';
import { createLog } from '../platform/observability/log.js';
import { Metrics } from '../platform/observability/metrics.js';
import { findVendors } from '../vendor-kit/registry.js';
import { endWithReader, tell, WrongInput } from './operator.js';
import { BackupModule, OpsModule } from './ops.module.js';

async function main(): Promise<void> {
  endWithReader();
  const vendors = await findVendors();
  const config = readConfig(process.env, { tools: true, vendors });
  // They need neither Redis nor an open store, and a folder that is to be restored must stay empty.
  if (process.argv[2] === 'backup') {
    await CommandFactory.run(BackupModule.of(config) as never, { cliName: 'ops', serviceErrorHandler: tell });
    return;
  }
  // Results go to stdout, one JSON object a line, and nothing else does.
  const log = createLog('silent', 'ops', { write: () => undefined });
  const engine = await assemble(config, vendors, log, new Metrics());
  try {
    await CommandFactory.run(OpsModule.of(config, engine, log) as never, { cliName: 'ops', serviceErrorHandler: tell });
  } finally {
    await engine.close();
  }
}

await main().catch((error: unknown) => tell(error instanceof InvalidConfig ? new WrongInput(error.message) : error));
