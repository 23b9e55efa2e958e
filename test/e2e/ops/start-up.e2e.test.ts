// A process that an operator starts with a certificate, or with a wrong configuration.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { selfSignedCertificate } from '../../support/eventstoredb-double/certificate.js';
import { Program, Service } from '../../support/service.js';

describe("the service's own TLS", () => {
  it('works with the configured certificate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tls-'));
    const { certificate, key } = selfSignedCertificate();
    writeFileSync(join(folder, 'cert.pem'), certificate);
    writeFileSync(join(folder, 'key.pem'), key);
    const service = await Service.start({ ROLE: 'all' });
    const secure = new Program('dist/src/main.js', {
      ...service.env,
      PORT: '0',
      TLS_CERT: join(folder, 'cert.pem'),
      TLS_KEY: join(folder, 'key.pem'),
      REQUIRE_TLS: 'true',
    });
    try {
      secure.spawn();
      let port = 0;
      while (port === 0) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        port = Number(/"address":".*?:(\d+)"[^\n]*"msg":"listening"/.exec(secure.output)?.[1] ?? 0);
        if (!secure.running) throw new Error(secure.output);
      }
      const status = await new Promise<number | undefined>((resolve, reject) => {
        httpsRequest({ host: '127.0.0.1', port, path: '/health/live', rejectUnauthorized: false }, (response) =>
          resolve(response.resume().statusCode),
        )
          .on('error', reject)
          .end();
      });
      expect(status).toBe(200);
    } finally {
      await secure.end('SIGTERM');
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a start with a wrong configuration', () => {
  it('ends with one message that names every wrong variable', async () => {
    const program = new Program('dist/src/main.js', { NODE_ENV: 'production', PORT: 'http', STEP_UP_TTL: '-1' });
    program.spawn();
    expect(await program.ended()).toBe(2);
    const [message = '', ...rest] = program.output.trim().split('\n');
    expect(rest).toEqual([]);
    for (const name of [
      'PORT',
      'STEP_UP_TTL',
      'REDIS_URL',
      'VAULT_MASTER_KEY',
      'JWT_SIGNING_KEY',
      'IDENTITY_VENDOR_URL',
      'IDENTITY_VENDOR_KEY',
      'PUBLIC_URL',
    ])
      expect(message).toContain(name);
  });
});
