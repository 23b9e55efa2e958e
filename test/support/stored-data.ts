// Data folders that earlier builds stored (test/fixtures), and the persons in the folders that store-data.ts makes.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { productionHere } from './production.js';
import type { Person, Reply, Service } from './service.js';

export const ORIGIN = 'https://app.example.com';

const SCREENED = {
  dateOfBirth: '04121990',
  phoneNumber: '(415) 555-0134',
  currentAddress: '1 Main Street',
  currentCity: 'San Francisco',
  currentState: 'CA',
  currentZip: '94105',
  jscPayload: 'fp-test',
  termsAcceptedAt: '2026-11-01T00:00:00Z',
};

/** Persons whose live sessions are in a stored folder. The SSNs of these persons belong to no real person. */
export const PERSONS = {
  /** A verified person who paid. The report was read, and is shared with the child account. */
  registered: { ...SCREENED, firstName: 'Ada', lastName: 'Lind-Ortega', ssn: '666443210', userType: 'CONSUMER' },
  /** A verified person without an SSN. */
  agent: { ...SCREENED, firstName: 'Ben', lastName: 'Lind-Ortega', userType: 'AGENT' },
  /** A verified person who paid. The bureau refused the report. */
  refused: { ...SCREENED, firstName: 'Cleo', lastName: 'Frozentest', ssn: '666443211', userType: 'CONSUMER' },
  /** A person who is blocked after wrong answers. */
  blocked: { ...SCREENED, firstName: 'Dan', lastName: 'Kbatest', ssn: '666443212', userType: 'CONSUMER' },
  /** A person without an SSN who is blocked after wrong codes. */
  blockedAgent: { ...SCREENED, firstName: 'Eva', lastName: 'Otptest', userType: 'AGENT' },
  /** A person who waits for a code. */
  waiting: { ...SCREENED, firstName: 'Fay', lastName: 'Otptest', ssn: '666443213', userType: 'CONSUMER' },
} satisfies Record<string, Person>;

export type PersonName = keyof typeof PERSONS;

/** The data stored next to the folder: its accounts, and the service's answers about its sessions. */
export interface StoredDescription {
  readonly accountId: string;
  readonly publishableKey: string;
  readonly childAccountId: string;
  readonly childPublishableKey: string;
  readonly endpoint: { readonly id: string; readonly url: string };
  readonly sessions: Readonly<Record<PersonName, string>>;
  readonly statuses: Readonly<Record<PersonName, object>>;
  readonly report: object;
}

/** The environment of a service on a stored folder. The master key is public and opens no other data. */
export async function productionOnStoredData(): Promise<Record<string, string>> {
  const masterKey = createHash('sha256').update('master key of the stored data folders').digest('base64');
  return { ...(await productionHere()), VAULT_MASTER_KEY: `k1:${masterKey}`, SUBMITS_PER_HOUR_PER_PERSON: '0' };
}

/** Makes a call like a page that has the publishable key. */
export async function pageOf(
  service: Service,
  publishableKey: string,
): Promise<(method: string, path: string, body?: unknown) => Promise<Reply>> {
  const exchange = { headers: { 'x-publishable-key': publishableKey, origin: ORIGIN } };
  const { body, text } = await service.request('POST', '/auth/token/exchange', exchange);
  if (body?.token === undefined) throw new Error(`The key was refused: ${text}`);
  const headers = { authorization: `Bearer ${body.token}`, origin: ORIGIN };
  return (method, path, content) => service.request(method, path, { headers, body: content });
}

/** The last output of an operator command. */
export async function told(service: Service, ...args: string[]): Promise<any> {
  const { exitCode, stdout } = await service.ops(...args);
  if (exitCode !== 0) throw new Error(`ops ${args.join(' ')}: ${stdout}`);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** Compresses each file and adds `.gz` to its name. */
export async function pack(source: string, target: string, isKept: (file: string) => boolean): Promise<void> {
  for (const file of (await filesIn(source)).filter(isKept)) {
    await mkdir(dirname(join(target, file)), { recursive: true });
    await writeFile(
      join(target, `${file}.gz`),
      await promisify(gzip)(await readFile(join(source, file)), { level: 9 }),
    );
  }
}

export async function unpack(source: string, target: string): Promise<void> {
  for (const file of await filesIn(source)) {
    const unpacked = join(target, file.replace(/\.gz$/, ''));
    await mkdir(dirname(unpacked), { recursive: true, mode: 0o700 });
    await writeFile(unpacked, await promisify(gunzip)(await readFile(join(source, file))), { mode: 0o600 });
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
