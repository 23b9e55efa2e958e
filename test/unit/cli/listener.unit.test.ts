// How `screening listen` follows feeds, and how it forwards events.
import { describe, expect, it } from '@jest/globals';
import { collectGarbage } from '../../support/collect-garbage.js';
import canonicalize from 'canonicalize';
import { Webhook } from 'standardwebhooks';

const { Listener } = await import('../../../packages/cli/listen.mjs' as string);
const { Service } = await import('../../../packages/cli/service.mjs' as string);
const { Receiver, secretOf } = await import('../../../packages/cli/receiver.mjs' as string);
const { Problem, Temporary } = await import('../../../packages/cli/problem.mjs' as string);

interface Entry {
  readonly sequence: number;
  readonly digest: string;
  readonly event: { readonly id: string; readonly type: string; readonly account_id: string; readonly data: object };
}
type Query = { readonly account_id: string; readonly after: number; readonly types?: string };
/** The number of heads in a page. */
const HEADS = 2;

const entry = (sequence: number, type = 'screening.completed', account_id = 'own'): Entry => ({
  sequence,
  digest: String(sequence).repeat(64),
  event: { id: `evt_${sequence}`, type, account_id, data: { session_id: 's', amount: 7, a: 'é' } },
});

/** A service whose feeds have these entries. When all are read, the work ends. `failures` are thrown by the first reads. */
class Feeds {
  readonly queries: Query[] = [];
  readonly said: string[] = [];
  readonly warned: string[] = [];
  readonly delivered: string[] = [];
  readonly paused: number[] = [];
  readonly ended = new AbortController();
  listed: Record<string, Entry[]>;

  constructor(
    private readonly feeds: Record<string, Entry[]>,
    private readonly failures: Error[] = [],
  ) {
    this.listed = feeds;
  }

  async get(path: string, query: Query): Promise<unknown> {
    const failure = path === '/v1/events' ? this.failures.shift() : undefined;
    if (failure) throw failure;
    if (path === '/v1/events/heads') {
      const all = Object.entries(this.listed).map(([id, { length }]) => ({ account_id: id, sequence: length }));
      const from = all.findIndex(({ account_id }) => account_id === String(query.after)) + 1;
      const data = all.slice(from, from + HEADS);
      return { data, next_after: from + HEADS < all.length ? data.at(-1)?.account_id : null };
    }
    this.queries.push(query);
    const data = (this.feeds[query.account_id] ?? []).filter(({ sequence }) => sequence > query.after).slice(0, 2);
    return { data, next_after: data.at(-1)?.sequence ?? query.after, has_more: data.length > 0 };
  }

  listener(more: object = {}): any {
    const events = Object.values(this.feeds).flat().length;
    return new Listener({
      service: this,
      receiver: {
        deliver: async ({ event }: Entry) => {
          this.delivered.push(event.id);
          if (this.delivered.length === events) this.ended.abort();
          return { status: '204', durationMs: 1 };
        },
      },
      terminal: {
        say: (text: string) => this.said.push(text),
        warn: (text: string) => this.warned.push(text),
        time: () => '12:00:00',
      },
      signal: this.ended.signal,
      pause: async (ms: number) => {
        this.paused.push(ms);
        // The worst case for the loops: each pause is over at once, but after the other work of this turn.
        await new Promise((turn) => setImmediate(turn));
      },
      ...more,
    });
  }
}

const heads = (...ids: string[]): object[] => ids.map((account_id) => ({ account_id, sequence: 0 }));

describe('the listener', () => {
  it('forwards the events of every feed in the order of the feed, with a line for each', async () => {
    const feeds = new Feeds({ own: [1, 2, 3].map((at) => entry(at)), child: [entry(1, 'report.shared', 'child')] });
    const listener = feeds.listener();
    await listener.follow(heads('own', 'child'), { after: '0' });
    expect(feeds.delivered.filter((id) => id !== 'evt_1')).toEqual(['evt_2', 'evt_3']);
    expect([feeds.delivered.length, listener.forwarded]).toEqual([4, 4]);
    expect(feeds.said).toContain('12:00:00  204  report.shared  evt_1  account child sequence 1  1 ms');
  });

  it('finds the feeds of all children, page by page', async () => {
    const feeds = new Feeds({ own: [], one: [], two: [entry(1)], three: [], four: [] });
    const found = async (account?: string): Promise<string[]> =>
      (await feeds.listener().feeds(account)).map(({ account_id }: { account_id: string }) => account_id);
    expect([await found(), await found('three'), await found('other')]).toEqual([
      ['own', 'one', 'two', 'three', 'four'],
      ['three'],
      [],
    ]);
  });

  it('begins behind the head of each feed, and never beyond it', async () => {
    for (const [after, from] of [
      [undefined, 5],
      ['2', 2],
      ['9', 5],
    ] as const) {
      const feeds = new Feeds({ own: [entry(6)] });
      await feeds.listener().follow([{ account_id: 'own', sequence: 5 }], { after });
      expect(feeds.queries[0]?.after).toBe(from);
    }
  });

  it('counts only the events that the receiver took', async () => {
    const feeds = new Feeds({ own: [1, 2, 3].map((at) => entry(at)) });
    const answers = ['204', '500', 'failed (no answer in time)'];
    const deliver = async (): Promise<object> => {
      if (answers.length === 1) feeds.ended.abort();
      return { status: answers.shift(), durationMs: 1 };
    };
    const listener = feeds.listener({ receiver: { deliver } });
    await listener.follow(heads('own'), { after: '0' });
    expect([listener.forwarded, listener.refused]).toEqual([1, 2]);
  });

  it('asks only for the types that are wanted', async () => {
    const feeds = new Feeds({ own: [entry(1)] });
    await feeds.listener({ types: 'screening.completed' }).follow(heads('own'), {});
    expect(feeds.queries[0]?.types).toBe('screening.completed');
  });

  it('when the service does not answer, it waits longer each time, says so, and continues where it was', async () => {
    const away = Array.from({ length: 8 }, () => new Temporary('The service does not answer.'));
    const feeds = new Feeds({ own: [entry(1), entry(2), entry(3)] }, away);
    await feeds.listener().follow(heads('own'), { after: '0' });
    expect(feeds.paused).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 30_000, 30_000]);
    expect(feeds.warned[1]).toBe('The service does not answer. The next try is in 2 s.');
    expect(feeds.warned.at(-1)).toBe('The service answers again.');
    expect(feeds.delivered).toEqual(['evt_1', 'evt_2', 'evt_3']);
  });

  it('when the service asks for a longer pause, it waits for that time', async () => {
    const feeds = new Feeds({ own: [entry(1)] }, [new Temporary('Too many requests.', 20_000)]);
    await feeds.listener().follow(heads('own'), { after: '0' });
    expect(feeds.paused).toEqual([20_000]);
  });

  it('when two feeds fail at the same time, they share one pause and one sentence', async () => {
    const away = [new Temporary('Away.'), new Temporary('Away.')];
    const feeds = new Feeds({ own: [entry(1)], child: [entry(1)] }, away);
    await feeds.listener().follow(heads('own', 'child'), { after: '0' });
    expect([feeds.paused, feeds.warned]).toEqual([
      [1_000],
      ['Away. The next try is in 1 s.', 'The service answers again.'],
    ]);
  });

  it('when a failure cannot pass, all feeds end with it', async () => {
    const feeds = new Feeds({ own: [entry(1)] }, [new Problem('The key is gone.')]);
    const work = feeds.listener().follow(heads('own', 'child'), { after: '1', withNewChildren: true });
    await expect(work).rejects.toThrow('The key is gone.');
  });

  it('follows a child that is opened later from its first event', async () => {
    const feeds = new Feeds({ own: [], child: [entry(1)] });
    feeds.listed = { own: [], child: [entry(1)] };
    await feeds.listener().follow(heads('own'), { withNewChildren: true });
    expect(feeds.delivered).toEqual(['evt_1']);
    expect(feeds.said[0]).toBe('Account child is a new child. Its events are forwarded too.');
  });

  it('when the service answers an empty page at once, it pauses for ten seconds before the next one', async () => {
    const feeds = new Feeds({ own: [] });
    const listener = feeds.listener({
      pause: async (ms: number) => {
        feeds.paused.push(ms);
        if (feeds.paused.length === 3) feeds.ended.abort();
      },
    });
    await listener.follow(heads('own'), {});
    expect(feeds.paused).toEqual([10_000, 10_000, 10_000]);
  });
});

describe('the receiver', () => {
  const SECRET: string = secretOf('sk_test_0123456789abcdef');
  const posted: { url: string; headers: Record<string, string>; body: Buffer; redirect: string }[] = [];
  const refused = (code: string): Error => Object.assign(new TypeError('fetch failed'), { cause: { code } });
  function receiver(...answers: (number | Error)[]): { deliver: (entry: Entry) => Promise<object>; waits: number[] } {
    const waits: number[] = [];
    const { deliver } = {
      deliver: (given: Entry) =>
        new Receiver({
          url: 'http://127.0.0.1:4000/hooks',
          secret: SECRET,
          warn: () => undefined,
          pause: async (ms: number) => void waits.push(ms),
          fetch: async (url: string, options: any) => {
            posted.push({ url, ...options });
            const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
            if (answer instanceof Error) throw answer;
            return new Response(null, { status: answer });
          },
        }).deliver(given),
    };
    return { deliver, waits };
  }

  it('gets the RFC 8785 bytes of the event, signed as Standard Webhooks, with the headers of a delivery', async () => {
    const given = entry(12);
    expect(await receiver(204).deliver(given)).toEqual({ status: '204', durationMs: expect.any(Number) });
    const { url, headers, body, redirect } = posted.at(-1)!;
    expect([url, redirect, body.toString('utf8')]).toEqual([
      'http://127.0.0.1:4000/hooks',
      'manual',
      canonicalize(given.event),
    ]);
    expect(new Webhook(SECRET).verify(body.toString('utf8'), headers)).toEqual(given.event);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'evt_12',
      'service-event-type': 'screening.completed',
      'service-event-sequence': '12',
      'service-event-digest': given.digest,
      'service-delivery-id': expect.stringMatching(/^[\da-f-]{36}$/),
    });
  });

  it('has the same secret at each start with the same key, and another one with another key', () => {
    expect(SECRET).toMatch(/^whsec_[A-Za-z\d+/]{43}=$/);
    expect([secretOf('sk_test_0123456789abcdef'), secretOf('sk_test_0123456789abcdeg')]).toEqual([
      SECRET,
      expect.not.stringMatching(SECRET.slice(6, 20)),
    ]);
  });

  it('is tried again while it is away, and not after an answer or a timeout', async () => {
    const away = receiver(refused('ECONNREFUSED'), refused('ECONNRESET'), 200);
    expect([await away.deliver(entry(1)), away.waits]).toEqual([
      expect.objectContaining({ status: '200' }),
      [1e3, 2e3],
    ]);
    const gone = receiver(refused('ECONNREFUSED'));
    expect([await gone.deliver(entry(1)), gone.waits]).toEqual([
      expect.objectContaining({ status: 'failed (connection refused)' }),
      [1_000, 2_000, 4_000],
    ]);
    const slow = receiver(Object.assign(new Error('late'), { name: 'TimeoutError' }));
    expect([await slow.deliver(entry(1)), slow.waits]).toEqual([
      expect.objectContaining({ status: 'failed (no answer in time)' }),
      [],
    ]);
    const failing = receiver(500);
    expect([await failing.deliver(entry(1)), failing.waits]).toEqual([expect.objectContaining({ status: '500' }), []]);
  });
});

describe('a request of the command line', () => {
  /** A service that never answers. */
  const silent = (signal?: AbortSignal): Promise<unknown> => {
    const fetch = async (_url: URL, { signal: limit }: { signal: AbortSignal }): Promise<never> =>
      new Promise((_, refuse) => limit.addEventListener('abort', () => refuse(limit.reason as Error)));
    const service = new Service({ url: 'http://service.test', secretKey: 'key', fetch });
    const asked = service.get('/v1/events', {}, { signal, withinMs: 200 }) as Promise<unknown>;
    asked.catch(() => undefined);
    return asked;
  };

  it('ends after its time when garbage was collected meanwhile', async () => {
    const asked = [silent(), silent(new AbortController().signal)];
    collectGarbage();
    for (const one of asked) await expect(one).rejects.toThrow('does not answer (no answer in time)');
  });

  it('ends early with the reason of the caller', async () => {
    const over = new AbortController();
    const asked = silent(over.signal);
    over.abort(new Error('Ctrl-C'));
    await expect(asked).rejects.toThrow('Ctrl-C');
  });
});
