// Persons, locks and vault subjects that earlier builds stored stay recognised. The build of `locks-of-names` counted
// wrong answers under several names of a person. The older build of `locks-of-persons` counted them under the person
// only (test/support/store-data.ts).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, type Reply, Service } from '../support/service.js';
import {
  pageOf,
  PERSONS,
  type PersonName,
  productionOnStoredData,
  type StoredDescription,
  told,
  unpack,
} from '../support/stored-data.js';

const ANOTHER_NAME = { firstName: 'Gus', lastName: 'Halvorsen' };

interface Spellings {
  /** Changed fields under which a locked person is still recognised. */
  readonly blocked: readonly Person[];
  readonly blockedAgent: readonly Person[];
  /** Changed fields under which a registered person is still recognised. */
  readonly registered: readonly Person[];
  readonly agent: readonly Person[];
  /** Changed fields that make another person. */
  readonly others: readonly Person[];
}

const OF_PERSONS: Spellings = {
  blocked: [{}, ANOTHER_NAME],
  blockedAgent: [{}, { firstName: 'EVA', lastName: 'Otp-Test' }],
  // When no last name was stored, only the person is compared.
  registered: [{}, { firstName: 'Ida' }, { lastName: 'Halvorsen' }],
  agent: [{}, { firstName: 'BEN', lastName: 'Lind Ortega' }],
  others: [{ dateOfBirth: '05131991' }],
};
const OF_NAMES: Spellings = {
  blocked: [...OF_PERSONS.blocked, { ...ANOTHER_NAME, dateOfBirth: '05131991' }, { ssn: ' 666443212 ' }],
  blockedAgent: [...OF_PERSONS.blockedAgent, { phoneNumber: '(415) 555-0199' }, { firstName: 'Éva' }],
  registered: [{}, { firstName: 'Ida' }, { lastName: 'LIND ORTEGA', phoneNumber: '(415) 555-0199' }],
  agent: OF_PERSONS.agent,
  others: [...OF_PERSONS.others, { lastName: 'Halvorsen' }],
};

describe.each([
  ['locks-of-persons', OF_PERSONS],
  ['locks-of-names', OF_NAMES],
])('with the stored data of %s', (name, spellings) => {
  const folder = join('test/fixtures', name);
  let service: Service;
  let stored: StoredDescription;
  let page: Awaited<ReturnType<typeof pageOf>>;

  beforeAll(async () => {
    stored = JSON.parse(await readFile(join(folder, 'expected.json'), 'utf8'));
    const data = (dataDir: string): Promise<void> => unpack(join(folder, 'data'), dataDir);
    service = await Service.start(await productionOnStoredData(), { stored: { data } });
    page = await pageOf(service, stored.publishableKey);
  });
  afterAll(() => service?.stop());

  const refused = ({ status, body }: Reply): unknown[] => [status, body?.error?.code];
  const submitted = (person: PersonName, fields: Person): Promise<Reply> =>
    page('POST', '/screening/submit', { ...PERSONS[person], ...fields });

  it('passes the audit', async () => {
    const { exitCode, stdout } = await service.ops('audit', 'verify');
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  });

  it.each(Object.keys(PERSONS) as PersonName[])('gives the unchanged status of the %s session', async (person) => {
    const { status, body } = await page('GET', `/screening/${stored.sessions[person]}/status`);
    expect([status, body]).toEqual([200, expect.objectContaining(stored.statuses[person])]);
  });

  it('shows the released report to its owner and to the account with a share', async () => {
    const path = `/reports/${stored.sessions.registered}`;
    expect(await page('GET', path)).toMatchObject({ status: 200, body: stored.report });
    expect((await (await pageOf(service, stored.childPublishableKey))('GET', path)).status).toBe(200);
  });

  it('still refuses the report that the bureau refused', async () => {
    const reply = await page('GET', `/reports/${stored.sessions.refused}`);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.body.error.code).toMatch(/^REPORT_/);
  });

  it.each(spellings.blocked)('refuses the blocked person, submitted with %j', async (fields) => {
    expect(refused(await submitted('blocked', fields))).toEqual([423, 'USER_BLOCKED']);
  });

  it.each(spellings.blockedAgent)('refuses the blocked person without an SSN, submitted with %j', async (fields) => {
    expect(refused(await submitted('blockedAgent', fields))).toEqual([423, 'USER_BLOCKED']);
  });

  it.each(spellings.registered)('recognises the registered person, submitted with %j', async (fields) => {
    expect(refused(await submitted('registered', fields))).toEqual([409, 'ALREADY_REGISTERED']);
  });

  it.each(spellings.agent)('recognises the registered person without an SSN, submitted with %j', async (fields) => {
    expect(refused(await submitted('agent', fields))).toEqual([409, 'ALREADY_REGISTERED']);
  });

  it('accepts the code for a stored session that waits for a code', async () => {
    const { status, body } = await page('POST', `/screening/${stored.sessions.waiting}/otp`, { code: '123456' });
    expect([status, body.status]).toEqual([200, 'VERIFIED']);
  });

  it('shows the registered webhook endpoint', async () => {
    const { token } = await told(
      service,
      ...['tokens', 'issue', stored.accountId, '--user', 'owner-1', '--role', 'OWNER'],
    );
    const { body } = await service.request('GET', '/tsp/webhooks', { headers: { authorization: `Bearer ${token}` } });
    expect(body).toEqual([expect.objectContaining({ ...stored.endpoint, status: 'active' })]);
  });

  it.each(spellings.others)(
    'screens another person with the SSN of the registered person, submitted with %j',
    async (fields) => {
      expect(await submitted('registered', fields)).toMatchObject({ status: 200, body: { status: 'VERIFIED' } });
    },
  );

  it('destroys the stored report with the data key of its person', async () => {
    const { registered } = stored.sessions;
    await told(service, 'person', 'erase', registered, '--reason', 'a test', '--yes');
    expect((await page('GET', `/reports/${registered}`)).status).toBe(410);
    expect((await service.ops('audit', 'verify')).exitCode).toBe(0);
  });
});
