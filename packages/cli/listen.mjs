// `screening listen`: follows the event feeds of the account and its direct children, and forwards each event to a receiver.
import { performance } from 'node:perf_hooks';
import { Patience, pauseFor } from './patience.mjs';
import { Problem, WrongUsage } from './problem.mjs';
import { Receiver, secretOf } from './receiver.mjs';
import { addressOf } from './settings.mjs';

const WAIT_SECONDS = 30;
/** The service answers a long poll at its end. The rest is for the way. */
const POLL_WITHIN_MS = (WAIT_SECONDS + 15) * 1_000;
/** The service answers an empty page at once when too many readers wait. */
const SHORTEST_POLL_MS = 1_000;
/** With hundreds of feeds, a shorter pause would cost the limits of the account. */
const PAUSE_AFTER_EARLY_PAGE_MS = 10_000;
const NEW_CHILDREN_EVERY_MS = 30_000;
const MOST_SEQUENCE = 999_999_999_999_999;

export const OPTIONS = {
  forward: { type: 'string' },
  types: { type: 'string' },
  after: { type: 'string' },
  account: { type: 'string' },
};

export async function run({ values, settings, service, terminal, signal }) {
  if (!values.forward) throw new WrongUsage('listen needs --forward with the address of your receiver.');
  if (values.after !== undefined && !/^\d{1,15}$/.test(values.after))
    throw new WrongUsage('--after must be a sequence, such as 0 for all events.');
  const url = addressOf(values.forward, '--forward');
  const secret = secretOf(settings.secretKey);
  const { say, warn } = terminal;
  const receiver = new Receiver({ url, secret, warn, pause: (ms) => pauseFor(ms, signal) });
  const types = values.types?.replaceAll(' ', '');
  if (types !== undefined) await checkTypes(service, types);
  const listener = new Listener({ service, receiver, types, terminal, signal });
  const feeds = await listener.feeds(values.account);
  if (feeds.length === 0) throw new Problem(`--account ${values.account} is neither this account nor a direct child.`);
  say(`Secret of the signatures: ${secret}`);
  const from = values.after === undefined ? 'new events' : `events after sequence ${values.after}`;
  say(`Forwarding ${from} of ${accountsOf(feeds)} (${settings.environment}) to ${url}. Ctrl-C ends.`);
  await listener.follow(feeds, { after: values.after, withNewChildren: values.account === undefined });
  const missed = listener.refused === 0 ? '' : `, ${listener.refused} not taken`;
  say(`Ended. ${count(listener.forwarded, 'event')} forwarded${missed}.`);
}

/** The service knows the types. A page after the last possible sequence reads no event. */
async function checkTypes(service, types) {
  await service.get('/v1/events', { types, after: MOST_SEQUENCE }).catch((error) => {
    throw error.field === 'types' ? new WrongUsage(`--types is wrong: ${error.message}`) : error;
  });
}

const count = (number, thing) => `${number} ${thing}${number === 1 ? '' : 's'}`;

function accountsOf([{ account_id: first }, ...others]) {
  if (others.length === 0) return `account ${first}`;
  return `account ${first} and ${others.length === 1 ? 'a direct child' : `${others.length} direct children`}`;
}

export function lineOf(time, { sequence, event: { type, id, account_id } }, { status, durationMs }) {
  return [time, status, type, id, `account ${account_id} sequence ${sequence}`, `${durationMs} ms`].join('  ');
}

export class Listener {
  /** The events that the receiver took, and the others. */
  forwarded = 0;
  refused = 0;
  #workers = new Set();
  #failure = null;
  #stop = new AbortController();

  /** `pause` waits some milliseconds, and ends early with the signal. */
  constructor({ service, receiver, types, terminal, signal, pause = pauseFor }) {
    Object.assign(this, { service, receiver, types, terminal });
    const stop = () => this.#stop.abort();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    this.signal = this.#stop.signal;
    this.pause = (ms) => pause(ms, this.signal);
    this.patience = new Patience({ warn: terminal.warn, signal: this.signal, pause: this.pause });
  }

  /** The newest entry of each feed, or of the feed of one account. */
  async feeds(accountId) {
    const heads = [];
    for (let after; after !== null;) {
      const page = await this.service.get('/v1/events/heads', { after }, { signal: this.signal });
      heads.push(...page.data);
      after = page.next_after ?? null;
    }
    return heads.filter((head) => accountId === undefined || head.account_id === accountId);
  }

  /** Works until the signal ends it. Throws a failure that does not pass. */
  async follow(feeds, { after, withNewChildren = false }) {
    const followed = new Set(feeds.map(({ account_id }) => account_id));
    // A place beyond the head would skip events to come.
    for (const { account_id, sequence } of feeds)
      this.#start(this.#followOne(account_id, Math.min(Number(after ?? sequence), sequence)));
    if (withNewChildren) this.#start(this.#findChildren(followed));
    for (let started = 0; started < this.#workers.size;) {
      started = this.#workers.size;
      await Promise.all(this.#workers);
    }
    if (this.#failure) throw this.#failure;
  }

  #start(worker) {
    this.#workers.add(
      worker.catch((error) => {
        this.#failure ??= error;
        this.#stop.abort();
      }),
    );
  }

  async #followOne(accountId, from) {
    let after = from;
    while (!this.signal.aborted) {
      const began = performance.now();
      const page = await this.patience.until(() => this.#read(accountId, after));
      if (page === null) return;
      for (const entry of page.data) {
        if (this.signal.aborted) return;
        await this.#forward(entry);
      }
      after = page.next_after;
      if (page.data.length === 0 && !page.has_more && performance.now() - began < SHORTEST_POLL_MS)
        await this.pause(PAUSE_AFTER_EARLY_PAGE_MS);
    }
  }

  #read(accountId, after) {
    const query = { account_id: accountId, after, wait: WAIT_SECONDS, types: this.types };
    return this.service.get('/v1/events', query, { signal: this.signal, withinMs: POLL_WITHIN_MS });
  }

  async #forward(entry) {
    const answer = await this.receiver.deliver(entry);
    if (/^2\d\d$/.test(answer.status)) this.forwarded += 1;
    else this.refused += 1;
    this.terminal.say(lineOf(this.terminal.time(), entry, answer));
  }

  async #findChildren(followed) {
    while (!this.signal.aborted) {
      await this.pause(NEW_CHILDREN_EVERY_MS);
      const feeds = (await this.patience.until(() => this.feeds())) ?? [];
      for (const { account_id } of feeds.filter((head) => !followed.has(head.account_id))) {
        this.terminal.say(`Account ${account_id} is a new child. Its events are forwarded too.`);
        followed.add(account_id);
        this.#start(this.#followOne(account_id, 0));
      }
    }
  }
}
