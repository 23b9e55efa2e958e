// The vault's contract suite on an S3 server of another project.
import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from '@aws-sdk/client-s3';
import { MasterKeys } from '../../src/adapters/vault/master-keys.js';
import { S3Vault } from '../../src/adapters/vault/s3.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { describeVault, masterKey } from '../contract/vault/suite.js';
import { describeForeign, ForeignServer } from '../support/foreign.js';
import { freePort } from '../support/redis.js';
import { inTestServer, useTestCredentials } from '../support/s3.js';

/** The suite sends hundreds of requests at once to a server that handles one at a time. */
const PATIENT_MS = 60_000;

describeForeign('moto', 'an S3 server of another project', (python) => {
  async function onMoto(limitMs = PATIENT_MS): Promise<{
    client: S3Client;
    open(keys: string, bucket?: string): Promise<S3Vault>;
    close(): Promise<void>;
  }> {
    useTestCredentials();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = await ForeignServer.start(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], url);
    const client = new S3Client({ region: 'us-east-1', endpoint: url, forcePathStyle: true });
    const place = { ...inTestServer(url), bucket: randomUUID() };
    await client.send(new CreateBucketCommand({ Bucket: place.bucket }));
    let vault: S3Vault | null = null;
    return {
      client,
      open: async (keys, bucket = place.bucket) => {
        await vault?.close();
        return (vault = S3Vault.open({
          ...place,
          bucket,
          keys: MasterKeys.parse(keys),
          clock: new SystemClock(),
          limitMs,
        }));
      },
      close: async () => {
        await vault?.close();
        client.destroy();
        await server.stop();
      },
    };
  }

  describeVault('on moto', onMoto, 100);

  it('a vault refuses a server whose bucket keeps versions, and a server without the bucket', async () => {
    const { client, open, close } = await onMoto();
    try {
      const bucket = randomUUID();
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      const versioning = { Bucket: bucket, VersioningConfiguration: { Status: 'Enabled' } } as const;
      await client.send(new PutBucketVersioningCommand(versioning));
      await expect((await open(masterKey('k'), bucket)).checkMasterKeys()).rejects.toThrow(/^VAULT_S3_BUCKET /);
      await expect((await open(masterKey('k'), 'no-such-bucket')).checkMasterKeys()).rejects.toThrow(
        'NoSuchBucket (404); look at VAULT_S3_BUCKET.',
      );
    } finally {
      await close();
    }
  });
});
