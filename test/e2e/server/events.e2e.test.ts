// GET /v1/events and GET /v1/events/heads on the whole service (docs/contract/server.md#the-event-feed).
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import canonicalize from 'canonicalize';
import { until } from '../../support/eventually.js';
import { childOf } from '../../support/child-account.js';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';

interface Head {
  readonly sequence: number;
  readonly event_id: string | null;
  readonly digest: string;
}

interface Page {
  readonly object: string;
  readonly data: readonly { readonly sequence: number; readonly digest: string; readonly event: any }[];
  readonly head: Head;
  readonly has_more: boolean;
  readonly next_after: number;
}

type Name = keyof Credentials['accounts'];

const ZEROS = '0'.repeat(64);
let service: Service;
let accounts: Credentials['accounts'];
let callers: Record<'nopay' | 'child', PlatformCaller>;

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  callers = { nopay: await service.signIn('nopay'), child: await service.signIn('child') };
});
afterAll(() => service.stop());

const refused = ({ status, body }: Reply): [number, string, string?] => [status, body?.error?.code, body?.error?.field];
const get = (path: string, name: Name = 'nopay', key = accounts[name].secretKey): Promise<Reply> =>
  service.request('GET', `/v1/events${path}`, { headers: { 'x-secret-key': key } });
async function read(query = '', name: Name = 'nopay'): Promise<Page> {
  const { status, text, body } = await get(query, name);
  if (status !== 200) throw new Error(`The feed answered ${status}: ${text}`);
  return body;
}
/** Screens a person of that name, and gives the id of the session. */
async function screens(lastName: string, name: 'nopay' | 'child' = 'nopay'): Promise<string> {
  return (await callers[name].submit({ lastName })).body.id;
}
async function untilSequence(sequence: number, name: Name = 'nopay'): Promise<Page> {
  await until(`the feed has ${sequence} events`, async () => (await read('', name)).head.sequence >= sequence);
  return read('', name);
}
const digestOf = (before: string, event: unknown): string =>
  createHash('sha256')
    .update(Buffer.from(before, 'hex'))
    .update(canonicalize(event) ?? '')
    .digest('hex');

describe('GET /v1/events', () => {
  it('200: an empty feed has a head of zeros', async () => {
    expect(await read('', 'unrelated')).toEqual({
      object: 'list',
      data: [],
      head: { sequence: 0, event_id: null, digest: ZEROS },
      has_more: false,
      next_after: 0,
    });
  });

  it('200: every event in its order, with digests that prove it, in pages', async () => {
    const before = (await read()).head;
    const sessions: string[] = [];
    for (let count = 0; count < 3; count++) sessions.push(await screens('Otptest'));
    const { head } = await untilSequence(before.sequence + 3);
    const page = await read(`?after=${before.sequence}&limit=2`);
    const rest = await read(`?after=${before.sequence + 2}&limit=2`);
    expect([page.has_more, page.data.length, rest.has_more, rest.data.length]).toEqual([true, 2, false, 1]);
    expect([page.next_after, rest.next_after]).toEqual([before.sequence + 2, before.sequence + 3]);
    const data = [...page.data, ...rest.data];
    expect(data.map(({ sequence }) => sequence)).toEqual([1, 2, 3].map((place) => before.sequence + place));
    expect(data.map(({ event }) => event.data.session_id)).toEqual(sessions);
    let digest = before.digest;
    for (const entry of data) expect(entry.digest).toBe((digest = digestOf(digest, entry.event)));
    expect([page.head, rest.head]).toEqual([head, head]);
    expect(head).toEqual({ sequence: before.sequence + 3, event_id: data[2]?.event.id, digest });
    expect(data[0]?.event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'screening.step_up_required',
      schema_version: 1,
      occurred_at: expect.any(String),
      environment: 'test',
      account_id: accounts.nopay.accountId,
      data: { session_id: sessions[0], user_type: 'CONSUMER', methods: expect.any(Array) },
    });
    // The keys are sorted, so the text of the event is the body of its delivery.
    expect((await get(`?after=${before.sequence}&limit=1`)).text).toContain(`"event":${canonicalize(data[0]?.event)}`);
  });

  it('200: with types, the events left out are counted', async () => {
    const { head } = await read();
    await screens('Otptest');
    await screens('Blocktest');
    const completed = await screens('Example');
    await until('the screening is in the feed', async () =>
      (await read(`?after=${head.sequence}`)).data.some(
        ({ event }) => event.type === 'screening.completed' && event.data.session_id === completed,
      ),
    );
    const all = (await read(`?after=${head.sequence}`)).data;
    const wanted = all.filter(({ event }) => event.type === 'screening.completed');
    expect(all.length).toBeGreaterThan(wanted.length);
    expect((await read(`?after=${head.sequence}&types=screening.completed`)).data).toEqual(wanted);
    const both = await read(`?after=${head.sequence}&types=screening.completed,screening.step_up_required&limit=1`);
    expect([both.data, both.has_more]).toEqual([[all[0]], true]);
  });

  it('200: an empty page beyond the head', async () => {
    const { head } = await read();
    const after = head.sequence + 100;
    const empty = { object: 'list', data: [], head, has_more: false, next_after: after };
    expect(await read(`?after=${after}`)).toEqual(empty);
  });

  it('200: a wait ends with the next event, and an empty page after its time', async () => {
    const { head } = await read();
    const waiting = read(`?after=${head.sequence}&wait=30`);
    const session = await screens('Otptest');
    const { data } = await waiting;
    expect(data.map(({ sequence, event }) => [sequence, event.data.session_id])).toEqual([
      [head.sequence + 1, session],
    ]);
    const after = await read(`?after=${head.sequence + 1}&wait=1`);
    expect([after.data, after.head.sequence]).toEqual([[], head.sequence + 1]);
    const ofType = read(`?after=${head.sequence + 1}&wait=30&types=screening.completed`);
    await screens('Otptest');
    const completed = await screens('Example');
    expect((await ofType).data.map(({ event }) => event.data.session_id)).toEqual([completed]);
  });

  it('200: the feed of a direct child, which the feed of the parent does not have', async () => {
    const { accountId } = accounts.child;
    const before = (await read('', 'child')).head.sequence;
    const mine = (await read('', 'demo')).head;
    const session = await screens('Otptest', 'child');
    await untilSequence(before + 1, 'child');
    const page = await read(`?account_id=${accountId}&after=${before}`, 'demo');
    expect(page).toEqual(await read(`?after=${before}`, 'child'));
    expect(page.data[0]?.event).toMatchObject({ account_id: accountId, data: { session_id: session } });
    expect((await read('', 'demo')).head).toEqual(mine);
    expect(await read(`?account_id=${accounts.demo.accountId}`, 'demo')).toEqual(await read('', 'demo'));
  });

  it('404 NOT_FOUND for an account that is not a direct child', async () => {
    const replies = [];
    for (const id of [accounts.grandchild.accountId, accounts.unrelated.accountId, randomUUID(), 'x'])
      replies.push(await get(`?account_id=${id}`, 'demo'));
    replies.push(await get(`?account_id=${accounts.demo.accountId}`, 'child'));
    expect(replies.map(refused)).toEqual(replies.map(() => [404, 'NOT_FOUND', undefined]));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  });

  it('200: a key of the other environment reads another feed', async () => {
    const { body } = await get('', 'demo', accounts.demo.liveSecretKey);
    expect([body.data, body.head.sequence]).toEqual([[], 0]);
  });

  it.each([
    ['after', '?after=-1'],
    ['after', '?after=x'],
    ['after', '?after='],
    ['after', '?after=1&after=2'],
    ['after', '?after=1.5'],
    ['limit', '?limit=0'],
    ['limit', '?limit=many'],
    ['types', '?types=screening.unknown'],
    ['types', '?types=screening.completed,'],
    ['types', '?types=ping'],
    ['types', '?types='],
    ['wait', '?wait=-1'],
    ['wait', '?wait=1s'],
    ['account_id', '?account_id=a&account_id=b'],
    ['account_id', '?account_id='],
  ])('400 VALIDATION_ERROR with its field: %s of %s', async (field, query) => {
    expect(refused(await get(query))).toEqual([400, 'VALIDATION_ERROR', field]);
  });

  it('200: a higher limit counts as 1,000', async () => {
    expect((await get('?limit=100000')).status).toBe(200);
  });

  it('401 AUTH_UNAUTHORIZED without a secret key', async () => {
    for (const path of ['', '/heads'])
      expect(refused(await service.request('GET', `/v1/events${path}`))).toEqual([401, 'AUTH_UNAUTHORIZED', undefined]);
  });
});

describe('GET /v1/events/heads', () => {
  it('200: the account and its direct children, and zeros for a feed without events', async () => {
    const { accountId } = accounts.child;
    const { head } = await read(`?account_id=${accountId}`, 'demo');
    const heads = async (name: Name): Promise<any> => (await get('/heads', name)).body;
    await until('the child is listed', async () => (await heads('demo')).data.length === 2);
    const own = (await read('', 'demo')).head;
    expect(await heads('demo')).toEqual({
      object: 'list',
      data: [
        { account_id: accounts.demo.accountId, environment: 'test', ...own },
        { account_id: accountId, environment: 'test', ...head },
      ],
      has_more: false,
      next_after: null,
    });
    expect((await heads('unrelated')).data).toEqual([
      { account_id: accounts.unrelated.accountId, environment: 'test', sequence: 0, event_id: null, digest: ZEROS },
    ]);
  });

  it('200: a page of children, and the next one after `next_after`', async () => {
    const children = [accounts.child.accountId];
    for (let count = 0; count < 2; count++) children.push((await childOf(service, 'demo')).accountId);
    const all = [accounts.demo.accountId, ...children.sort()];
    const read = async (query: string): Promise<[string[], boolean, string | null]> => {
      const { data, has_more, next_after } = (await get(`/heads${query}`, 'demo')).body;
      return [data.map(({ account_id }: any) => account_id), has_more, next_after];
    };
    await until('the children are listed', async () => (await read(''))[0].length === all.length);
    expect(await read('')).toEqual([all, false, null]);
    expect(await read('?limit=2')).toEqual([all.slice(0, 3), true, all[2]]);
    expect(await read(`?limit=2&after=${all[2]}`)).toEqual([all.slice(3), false, null]);
    expect(await read('?limit=100000')).toEqual([all, false, null]);
  });

  it.each([
    ['after', '?after='],
    ['after', '?after=x'],
    ['after', '?after=a&after=b'],
    ['limit', '?limit=0'],
    ['limit', '?limit='],
    ['limit', '?limit=1.5'],
  ])('400 VALIDATION_ERROR with its field: %s of %s', async (field, query) => {
    expect(refused(await get(`/heads${query}`))).toEqual([400, 'VALIDATION_ERROR', field]);
  });
});
