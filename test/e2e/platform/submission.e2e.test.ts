// The additional fields of a submission (docs/contract/platform.md#submission), on the whole service.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aPerson, type PlatformCaller, Service, type Reply } from '../../support/service.js';

const UNIT = '7 Canary Lane #2';

let service: Service;
let demo: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  demo = await service.signIn('demo');
});
afterAll(() => service.stop());

const refused = ({ status, body }: Reply): unknown[] => [status, body?.error?.code, body?.error?.field];

/** The record of the submission in the log, as an investigator sees it. */
async function recorded(sessionId: string): Promise<{ readonly data: object; readonly all: string }> {
  const { exitCode, stdout } = await service.ops('timeline', sessionId);
  if (exitCode !== 0) throw new Error(stdout);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { data: events.find(({ event }) => event === 'ScreeningSubmitted').data, all: stdout };
}

describe('POST /screening/submit', () => {
  it("200: terms, product and end user are in the timeline; of the unit's address, the timeline says only that there is one", async () => {
    const reply = await demo.submit({
      unitAddress: UNIT,
      endUserType: 'PROPERTY_MANAGEMENT',
      productId: 2,
      termsVersion: 'standard-1',
    });
    expect(reply.status).toBe(200);
    const { data, all } = await recorded(reply.body.id);
    expect(data).toMatchObject({
      termsVersion: 'standard-1',
      endUserType: 'PROPERTY_MANAGEMENT',
      productId: 2,
      unitAddressKept: true,
    });
    expect(all).not.toContain('Canary');
    expect(service.program.output).not.toContain('Canary');
    expect((await service.ops('audit', 'verify')).exitCode).toBe(0);
  });

  it.each([
    ['as text', UNIT],
    ['in parts', { address: UNIT, city: 'Springfield', state: 'IL', zip: '62701' }],
  ])(
    '200: the address of the unit, %s, can be read only by the server of the account, and is erased with the person',
    async (_, unitAddress) => {
      const { demo: parent, child } = (await service.credentials()).accounts;
      const { id } = (await (await service.signIn('child')).submit({ unitAddress })).body;
      const readBy = async (secretKey: string): Promise<Reply> => {
        const reply = await service.request('GET', `/v1/screenings/${id}/status`, {
          headers: { 'x-secret-key': secretKey },
        });
        expect(reply.status).toBe(200);
        return reply;
      };
      expect((await readBy(child.secretKey)).body.unit_address).toEqual(unitAddress);
      expect((await readBy(parent.secretKey)).body).not.toHaveProperty('unit_address');
      expect((await service.ops('person', 'erase', id)).exitCode).toBe(0);
      expect((await readBy(child.secretKey)).body).not.toHaveProperty('unit_address');
    },
  );

  it('200: nothing is recorded when these fields are missing', async () => {
    const { body } = await demo.submit();
    const { data } = await recorded(body.id);
    for (const field of ['termsVersion', 'endUserType', 'productId', 'unitAddressKept'])
      expect(data).not.toHaveProperty(field);
    const { secretKey } = (await service.credentials()).accounts.demo;
    const status = await service.request('GET', `/v1/screenings/${body.id}/status`, {
      headers: { 'x-secret-key': secretKey },
    });
    expect(status.body).not.toHaveProperty('unit_address');
  });

  it('200: the end user type of the session grant is used when the page names none, and the page may repeat it', async () => {
    const terms = { end_user_type: 'REAL_ESTATE_AGENT' };
    for (const said of [{}, { endUserType: 'REAL_ESTATE_AGENT' }]) {
      const page = await service.signInUnderGrant('demo', terms);
      const reply = await page.submit(said);
      expect(reply.status).toBe(200);
      expect((await recorded(reply.body.id)).data).toMatchObject({ endUserType: 'REAL_ESTATE_AGENT' });
    }
  });

  it('200: when the grant has an unknown end user type, the page may name another type', async () => {
    const page = await service.signInUnderGrant('demo', { end_user_type: 'applicant' });
    const reply = await page.submit({ endUserType: 'INDEPENDENT_OWNER' });
    expect((await recorded(reply.body.id)).data).toMatchObject({ endUserType: 'INDEPENDENT_OWNER' });
  });

  it('400 VALIDATION_ERROR: the end user type differs from that of the session grant, and the grant stays unused', async () => {
    const page = await service.signInUnderGrant('demo', { end_user_type: 'REAL_ESTATE_AGENT' });
    const person = aPerson();
    expect(refused(await page.submit({ ...person, endUserType: 'INDEPENDENT_OWNER' }))).toEqual([
      400,
      'VALIDATION_ERROR',
      'endUserType',
    ]);
    expect((await page.submit(person)).status).toBe(200);
  });

  it('400 VALIDATION_ERROR: the account does not have the product', async () => {
    expect(refused(await demo.submit({ productId: 3 }))).toEqual([400, 'VALIDATION_ERROR', 'productId']);
  });

  it.each([
    ['unitAddress', { city: 'Springfield' }],
    ['unitAddress', ' '],
    ['endUserType', 'LANDLORD'],
    ['productId', '1'],
    ['termsVersion', 'two words'],
    ['termsVersion', '123-45-6789'],
  ])('400 VALIDATION_ERROR: the field %s is %j', async (field, value) => {
    expect(refused(await demo.submit({ [field]: value }))).toEqual([400, 'VALIDATION_ERROR', field]);
  });

  it('401: without a token', async () => {
    const reply = await service.request('POST', '/screening/submit', { body: aPerson({ unitAddress: UNIT }) });
    expect([reply.status, reply.body.error.code]).toEqual([401, 'AUTH_UNAUTHORIZED']);
  });
});
