// The places that keep checkpoints: the contract of the port, and `ops audit verify` against them. OpenSSL acts as the time stamp authority, and verifies
// what the service has received.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DirectoryAnchor } from '../../../src/adapters/anchors/directory.js';
import { S3Anchor } from '../../../src/adapters/anchors/s3.js';
import { DiskTransparencyFiles } from '../../../src/adapters/transparency-files/disk.js';
import { caseTagsOf } from '../../../src/modules/case-tags.js';
import type { Anchor } from '../../../src/ports/anchors.js';
import { TimeStampAuthority } from '../../../src/transparency/time-stamps.js';
import { type TreeReport, verifyTree } from '../../../src/transparency/verify-tree.js';
import { freePort } from '../../support/redis.js';
import { BUCKET, S3Server } from '../../support/s3.js';
import { ALONE_IN_THE_WORLD, SEAL_KEYS, SmallLog } from '../../support/sealing.js';

let s3: S3Server;
let log: SmallLog;
let directory: DirectoryAnchor;
let bucket: S3Anchor;
let prefix = 0;

beforeAll(async () => {
  s3 = await S3Server.start();
});
afterAll(() => s3.stop());

beforeEach(async () => {
  log = new SmallLog();
  await log.append(10);
  mkdirSync(join(log.folder, 'worm'));
  directory = new DirectoryAnchor(join(log.folder, 'worm'));
  bucket = new S3Anchor({ bucket: BUCKET, region: 'us-east-1', endpoint: s3.url, prefix: `anchor-${++prefix}` });
});
afterEach(async () => {
  await bucket.close();
  await log.close();
});

const at = (...anchors: Anchor[]) => ({ ...ALONE_IN_THE_WORLD, anchors });

function verified({ store, sealed }: SmallLog, ...anchors: Anchor[]): Promise<TreeReport> {
  const files = new DiskTransparencyFiles(sealed);
  return verifyTree({ store, tagOf: caseTagsOf(store, { records: false }), files, keys: SEAL_KEYS }, at(...anchors));
}

describe.each([
  ['a directory', () => directory],
  ['an S3 bucket', () => bucket],
])('%s as an anchor', (_, anchorOf) => {
  it('keeps the first file of a name, and lists the names in order', async () => {
    const anchor = anchorOf();
    expect(await anchor.read('1')).toBeNull();
    for (const name of ['2', '1', '10']) await anchor.add(name, Buffer.from(`first ${name}`));
    await anchor.add('2', Buffer.from('second'));
    expect((await anchor.read('2'))?.toString()).toBe('first 2');
    const names: string[] = [];
    for await (const name of anchor.names()) names.push(name);
    expect(names).toEqual(['1', '10', '2']);
  });

  it('shows that the log, its files and its key were used to begin another history', async () => {
    const anchor = anchorOf();
    await log.sealAll(at(anchor));
    const honest = await log.copy();
    await log.append(3);
    await log.sealAll(at(anchor));
    expect(await verified(log, anchor)).toEqual({ sealed: 13, faults: [], outside: { compared: 2, unreached: [] } });
    // The forger changes what came after the tenth event, and seals again.
    await honest.append(8);
    await honest.sealAll(ALONE_IN_THE_WORLD);
    const { faults } = await verified(honest, anchor);
    expect(faults).toEqual([
      {
        position: null,
        fault: `${anchor.name} keeps a signed checkpoint of 13 events that the log does not have: an event from index 10 to 12 was changed`,
      },
    ]);
    await honest.close();
  });

  it('shows that the end of the log was cut off with its checkpoint', async () => {
    const anchor = anchorOf();
    await log.sealAll(at(anchor));
    const cut = await log.copy();
    for (let more = 0; more < 2; more++) {
      await log.append(3);
      await log.sealAll(at(anchor));
    }
    expect((await verified(cut, anchor)).faults).toEqual([
      {
        position: null,
        fault: `${anchor.name} has a checkpoint of 13 events, but the last one of the log covers 10; 1 later checkpoints too`,
      },
    ]);
    await cut.close();
  });

  it('names a checkpoint that the log did not sign', async () => {
    const anchor = anchorOf();
    await log.sealAll(at(anchor));
    await anchor.add(`000000000000007-${'0'.repeat(64)}`, Buffer.from('forged'));
    expect((await verified(log, anchor)).faults).toEqual([
      {
        position: null,
        fault: `${anchor.name} has a checkpoint of 7 events that no key of SEAL_SIGNING_KEY signed`,
      },
    ]);
  });
});

it('goes on sealing while an anchor fails, and the audit says which place it did not reach', async () => {
  const gone = new DirectoryAnchor(join(log.folder, 'nowhere'));
  const sealer = await log.sealAll(at(gone, directory));
  expect(sealer.places.get(gone.name)).toMatch(/ENOENT/);
  expect(sealer.places.get(directory.name)).toBeNull();
  expect(await verified(log, gone, directory)).toEqual({
    sealed: 10,
    faults: [],
    outside: { compared: 1, unreached: [{ place: gone.name, reason: expect.stringMatching(/ENOENT/) }] },
  });
});

it('warns about a bucket without object lock', async () => {
  expect((await log.sealAll(at(bucket))).weak.get(bucket.name)).toMatch(/^The bucket has no object lock/);
  s3.objectLock = true;
  expect((await log.sealAll(at(bucket))).weak.size).toBe(0);
});

describe('a time stamp', () => {
  let authority: Server;
  let folder: string;
  const openssl = (...parts: string[]): Buffer => execFileSync('openssl', parts, { cwd: folder, stdio: 'pipe' });
  const url = (): string => `http://127.0.0.1:${(authority.address() as AddressInfo).port}`;
  /** Replaces the answer of OpenSSL. */
  let instead: Buffer | null;

  beforeEach(async () => {
    folder = join(log.folder, 'authority');
    mkdirSync(folder);
    instead = null;
    writeFileSync(
      join(folder, 'openssl.cnf'),
      [
        ...['[req]', 'distinguished_name = dn', 'x509_extensions = ext', 'prompt = no', '[dn]', 'CN = Test authority'],
        ...['[ext]', 'extendedKeyUsage = critical,timeStamping', '[tsa]', 'default_tsa = own', '[own]'],
        ...['serial = serial', 'default_policy = 1.2.3.4.1', 'digests = sha256', 'signer_digest = sha256'],
        'ess_cert_id_alg = sha256',
      ].join('\n'),
    );
    writeFileSync(join(folder, 'serial'), '01\n');
    const subject = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem'];
    openssl('req', '-x509', '-config', 'openssl.cnf', ...subject, '-out', 'cert.pem', '-days', '2');
    authority = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        writeFileSync(join(folder, 'query'), Buffer.concat(chunks));
        const signer = ['-inkey', 'key.pem', '-signer', 'cert.pem', '-out', 'reply'];
        openssl('ts', '-reply', '-config', 'openssl.cnf', '-queryfile', 'query', ...signer);
        response.end(instead ?? readFileSync(join(folder, 'reply')));
      });
    });
    const port = await freePort();
    await new Promise<void>((resolve) => authority.listen(port, '127.0.0.1', resolve));
  });
  afterEach(() => void authority.close());

  const stamped = () => ({
    ...at(directory),
    authority: new TimeStampAuthority(url()),
    timeStampIntervalMs: 3_600_000,
  });

  it('is verified by OpenSSL, and lies beside the checkpoint in each anchor', async () => {
    const sealer = await log.sealAll(stamped());
    expect([...sealer.places.values()]).toEqual([null, null]);
    const names: string[] = [];
    for await (const name of directory.names()) names.push(name);
    expect(names).toEqual([names[0], `${names[0]}.tsr`]);
    const own = join(log.sealed, 'timestamps', '000000000000010');
    for (const file of [own, join(log.folder, 'worm', names[0] ?? '')]) {
      expect(readFileSync(file, 'utf8')).toBe(log.checkpoint());
      expect(openssl('ts', '-verify', '-data', file, '-in', `${file}.tsr`, '-CAfile', 'cert.pem').toString()).toMatch(
        /Verification: OK/,
      );
    }
    expect((await verified(log, directory)).faults).toEqual([]);
    writeFileSync(own, log.checkpoint().replace(/.\n$/, '\n'));
    expect((await verified(log, directory)).faults).toEqual([
      { position: null, fault: 'transparency/timestamps has a time stamp of 10 events for another checkpoint' },
    ]);
  });

  it('is refused when the authority denies it, or answers another request', async () => {
    instead = Buffer.from('30053003020102', 'hex');
    const first = await log.sealAll(stamped());
    expect(first.places.get(stamped().authority.name)).toMatch(/granted no time stamp/);
    rmSync(join(log.folder, 'transparency'), { recursive: true });
    instead = null;
    await log.sealAll(stamped());
    instead = readFileSync(join(folder, 'reply'));
    await log.append(1);
    const second = await log.sealAll(stamped());
    expect(second.places.get(stamped().authority.name)).toMatch(/another request/);
  });
});
