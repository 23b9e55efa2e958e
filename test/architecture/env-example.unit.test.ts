// `.env.example`, compared with the sources that read the environment.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readConfig, type Config } from '../../src/config/config.js';
import { findDoubles } from '../../sandbox/doubles.js';
import { findVendors } from '../../src/vendor-kit/registry.js';
import { PRODUCTION } from '../support/production.js';

const vendors = await findVendors();
const variables = [...readFileSync('.env.example', 'utf8').matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(
  ([, name = '', value = '']) => [name, value] as const,
);
const withDefaults = Object.fromEntries(variables.filter(([, value]) => value !== ''));

const textOf = (...files: string[]): string => files.map((file) => readFileSync(file, 'utf8')).join('\n');
const namesIn = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);

/** Each setting is a literal in the sources of the configuration. The system sets PATH. */
const configured = namesIn(
  textOf(...readdirSync('src/config').map((file) => `src/config/${file}`)),
  /'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)'/g,
).filter((name) => name !== 'PATH');

/** The README of a vendor's folder lists the variables whose names begin with VENDOR_, or with SANDBOX_ and the vendor's id. */
const ofVendors = [
  ...vendors.flatMap(({ settings }) =>
    Object.values(settings).flatMap(({ variable, testVariable = variable }) => [variable, testVariable]),
  ),
  ...(await findDoubles()).flatMap(({ id, double }) =>
    Object.keys(double.variables).filter((name) => !name.startsWith(`SANDBOX_${id.toUpperCase()}_`)),
  ),
].filter((name) => name !== undefined && !name.startsWith('VENDOR_'));

const compose = namesIn(textOf('docker-compose.yml'), /\$\{([A-Z][A-Z0-9_]*)/g);

/** Variables that programs outside the configuration read, with the file that reads or explains each. */
const BESIDE: Readonly<Record<string, string>> = {
  OPERATOR: 'src/ops/operator.ts',
  AWS_ACCESS_KEY_ID: 'docs/operations/erasure-and-keys.md',
  AWS_SECRET_ACCESS_KEY: 'docs/operations/erasure-and-keys.md',
  AWS_SESSION_TOKEN: 'docs/operations/erasure-and-keys.md',
  UV_THREADPOOL_SIZE: 'docs/how-to/run-in-production.md',
  SANDBOX_HOST: 'sandbox/vendors.ts',
  SANDBOX_NOTICES_URL: 'sandbox/vendors.ts',
};

describe('.env.example', () => {
  it('lists exactly the known variables, each once', () => {
    const known = new Set([...configured, ...ofVendors, ...compose, ...Object.keys(BESIDE)]);
    expect(known).toContain('DOCS_URL');
    expect(variables.map(([name]) => name).sort()).toEqual([...known].sort());
  });

  it.each(Object.entries(BESIDE))('lists %s, which %s names', (name, file) => {
    expect(textOf(file)).toContain(name);
  });

  it('lists each variable that the sandbox reads', () => {
    const source = textOf('sandbox/vendors.ts');
    const read = namesIn(source, /\b(?:named\('|env\.)([A-Z]\w+)/g).concat(
      namesIn(source, /(?:[{,] |^ {4})([A-Z][A-Z0-9_]+)(?= = |, | }|,$)/gm),
    );
    expect(read).toEqual(expect.arrayContaining(['INTERNAL_PORT', 'SANDBOX_HOST', 'SANDBOX_SLOWNESS', 'PORT']));
    expect(read.filter((name) => !variables.some(([listed]) => listed === name))).toEqual([]);
  });

  it.each([
    ['development', { REDIS_URL: 'redis://127.0.0.1:6379' }],
    ['production', { ...PRODUCTION, REDIS_URL: 'rediss://:redis-secret@redis.internal:6380' }],
    ['a vault in S3', { REDIS_URL: 'unix:///redis.sock', VAULT: 's3', VAULT_S3_BUCKET: 'vault', VAULT_S3_REGION: 'x' }],
  ])(
    'shows the defaults: %s the configuration is the same when all of them are set',
    (_kind, needed: Record<string, string>) => {
      const read = (env: Record<string, string>): Config => readConfig({ ...env, ...needed }, { vendors });
      expect(read(withDefaults)).toEqual(read({}));
    },
  );

  it('can be read by a shell', () => {
    const uncommented = readFileSync('.env.example', 'utf8').replace(/^#(?=[A-Z][A-Z0-9_]*=)/gm, '');
    const shown = execFileSync('sh', ['-c', 'set -aeu; eval "$1"; env', 'sh', uncommented], {
      encoding: 'utf8',
      env: {},
    });
    const read = new Map(shown.split('\n').map((line) => line.split(/=(.*)/s) as [string, string]));
    expect(variables.filter(([name, value]) => read.get(name) !== value)).toEqual([]);
  });
});
