// Persons, locks and vault subjects that earlier builds stored stay theirs. `locks-of-names` was stored when wrong answers counted under
// several names of a person, `locks-of-persons` before that, when they counted under the person only (test/support/store-data.ts).
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
  /** By which a person who is locked is still known. */
  readonly blocked: readonly Person[];
  readonly blockedAgent: readonly Person[];
  /** By which a person who is registered is still known. */
  readonly registered: readonly Person[];
  readonly agent: readonly Person[];
  /** By which a submission is of another person. */
  readonly others: readonly Person[];
}

const OF_PERSONS: Spellings = {
  blocked: [{}, ANOTHER_NAME],
  blockedAgent: [{}, { firstName: 'EVA', lastName: 'Otp-Test' }],
  // What was stored without the name is compared by the person only.
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

  it('verifies', async () => {
    const { exitCode, stdout } = await service.ops('audit', 'verify');
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  });

  it.each(Object.keys(PERSONS) as PersonName[])('gives the status of the %s session as it was', async (person) => {
    const { status, body } = await page('GET', `/screening/${stored.sessions[person]}/status`);
    expect([status, body]).toEqual([200, expect.objectContaining(stored.statuses[person])]);
  });

  it('opens the report that was released, also for the account that it is shared with', async () => {
    const path = `/reports/${stored.sessions.registered}`;
    expect(await page('GET', path)).toMatchObject({ status: 200, body: stored.report });
    expect((await (await pageOf(service, stored.childPublishableKey))('GET', path)).status).toBe(200);
  });

  it('goes on to refuse the report that the bureau refused', async () => {
    const reply = await page('GET', `/reports/${stored.sessions.refused}`);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.body.error.code).toMatch(/^REPORT_/);
  });

  it.each(spellings.blocked)('refuses the person who is blocked, submitted with %j', async (fields) => {
    expect(refused(await submitted('blocked', fields))).toEqual([423, 'USER_BLOCKED']);
  });

  it.each(spellings.blockedAgent)('refuses the blocked person without an SSN, submitted with %j', async (fields) => {
    expect(refused(await submitted('blockedAgent', fields))).toEqual([423, 'USER_BLOCKED']);
  });

  it.each(spellings.registered)('knows the registered person, submitted with %j', async (fields) => {
    expect(refused(await submitted('registered', fields))).toEqual([409, 'ALREADY_REGISTERED']);
  });

  it.each(spellings.agent)('knows the registered person without an SSN, submitted with %j', async (fields) => {
    expect(refused(await submitted('agent', fields))).toEqual([409, 'ALREADY_REGISTERED']);
  });

  it('takes the code that a stored session waits for', async () => {
    const { status, body } = await page('POST', `/screening/${stored.sessions.waiting}/otp`, { code: '123456' });
    expect([status, body.status]).toEqual([200, 'VERIFIED']);
  });

  it('shows the webhook endpoint that was registered', async () => {
    const { token } = await told(
      service,
      ...['tokens', 'issue', stored.accountId, '--user', 'owner-1', '--role', 'OWNER'],
    );
    const { body } = await service.request('GET', '/tsp/webhooks', { headers: { authorization: `Bearer ${token}` } });
    expect(body).toEqual([expect.objectContaining({ ...stored.endpoint, status: 'active' })]);
  });

  it.each(spellings.others)(
    'screens another person with the SSN of the registered one, submitted with %j',
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
