// A process that has opened the vault. OtherProcess starts this process. The process reads one JSON command in each
// line, and answers each with a line of JSON.
import { createInterface } from 'node:readline';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { S3Vault } from '../../../src/adapters/vault/s3.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { inTestServer } from '../../support/s3.js';

const [kind = '', where = '', masterKeys = ''] = process.argv.slice(2);
const options = { keys: MasterKeys.parse(masterKeys), clock: new SystemClock() };
const vault =
  kind === 's3'
    ? S3Vault.open({ ...options, ...inTestServer(where), limitMs: 30_000 })
    : DiskVault.open({ ...options, directory: where });

let leaksWarnedOf = 0;
process.on('warning', ({ name }) => (leaksWarnedOf += name === 'MaxListenersExceededWarning' ? 1 : 0));

async function run(command: string, subject: string, entry: string, value: string): Promise<unknown> {
  switch (command) {
    case 'put':
      return vault.put(subject, entry, Buffer.from(value));
    case 'get': {
      const found = await vault.get(subject, entry);
      return found === null ? null : Buffer.from(found).toString();
    }
    case 'erase':
      return vault.erase(subject);
    case 'rewrap':
      return (await vault.rewrap()).rewrapped;
    case 'installationKey':
      return Buffer.from(await vault.installationKey(subject)).toString('hex');
    case 'leaksWarnedOf':
      return leaksWarnedOf;
    default:
      return undefined;
  }
}

process.stdout.write('"ready"\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [id, command, subject = '', entry = '', value = ''] = JSON.parse(line) as [
    number,
    string,
    string?,
    string?,
    string?,
  ];
  void run(command, subject, entry, value).then(
    (result) => process.stdout.write(`${JSON.stringify([id, 'done', result ?? null])}\n`),
    (error: Error) => process.stdout.write(`${JSON.stringify([id, 'failed', error.name])}\n`),
  );
}
