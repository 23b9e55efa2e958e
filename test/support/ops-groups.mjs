// Makes each group of operator commands from the modules that it imports, without Redis. Prints as JSON each group's
// commands and the use cases that have a handler. `libraries` are the files of CommonJS packages that all groups loaded.
// The given data folder must be empty.
import 'reflect-metadata';
import { createRequire } from 'node:module';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { CommandFactory } from 'nest-commander';
import { pino } from 'pino';
import { readConfig } from '../../dist/src/config/config.js';
import { OperatorCommand } from '../../dist/src/ops/operator-command.js';
import { chosenBy, OpsModule } from '../../dist/src/ops/ops.module.js';
import { findVendors, VendorRegistry } from '../../dist/src/vendor-kit/registry.js';

const [, , DATA_DIR, ...groups] = process.argv;
const vendors = await findVendors();
const config = readConfig({ REDIS_URL: 'redis://127.0.0.1:1', DATA_DIR }, { tools: true, vendors });
const registry = new VendorRegistry(vendors, config.vendors.byId);
const found = {};
for (const group of groups) {
  const root = await OpsModule.forRoot(chosenBy([group]), {
    config,
    vendors: registry,
    log: pino({ level: 'silent' }),
  });
  root.imports.push(DiscoveryModule);
  const app = await CommandFactory.createWithoutRunning(root, { logger: false, abortOnError: false });
  const types = app
    .get(DiscoveryService, { strict: false })
    .getProviders()
    .flatMap(({ instance, metatype }) => (instance && metatype ? [metatype] : []));
  found[group] = {
    commands: types.filter((type) => type.prototype instanceof OperatorCommand).map(({ name }) => name),
    handled: types.flatMap(
      (type) =>
        (Reflect.getMetadata('__commandHandler__', type) ?? Reflect.getMetadata('__queryHandler__', type))?.name ?? [],
    ),
  };
  await app.close();
}
found.libraries = Object.keys(createRequire(import.meta.url).cache);
process.stdout.write(JSON.stringify(found), () => process.exit());
