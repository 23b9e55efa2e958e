// A filtered catch-up subscription on $all like that of the server. The subscription reads the past page by page,
// reports that it has caught up, and continues live. The subscription returns to pages when the caller reads live
// events too slowly.
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { isAfter, type Log, type LogRecord, type Place, placeOf } from './log.js';
import { caughtUp, checkpoint, confirmation, eventMessage, fellBehind, placeAsked } from './messages.js';

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** The server has the same limits. */
const PAGE = 32;
const LIVE_BACKLOG = 32;

export interface SubscriptionBehaviour {
  /** While this is set, nothing is sent, even if events are stored. */
  readonly muted: () => boolean;
  readonly sendsCaughtUp: () => boolean;
  readonly onCheckpoint: () => void;
}

type Matches = (record: LogRecord) => boolean;

export class Subscription {
  readonly #call: ReadCall;
  readonly #log: Log;
  readonly #behaviour: SubscriptionBehaviour;
  readonly #matches: Matches;
  readonly #interval: number;
  #place: Place | null;
  #considered = 0;
  #index: number;

  constructor(call: ReadCall, log: Log, behaviour: SubscriptionBehaviour) {
    const options = call.request.getOptions();
    const filter = options?.getFilter();
    this.#call = call;
    this.#log = log;
    this.#behaviour = behaviour;
    this.#matches = matcher(filter);
    this.#interval = (filter?.hasMax() ? filter.getMax() : PAGE) * (filter?.getCheckpointintervalmultiplier() ?? 1);
    const asked = placeAsked(options?.getAll());
    const last = log.records.at(-1);
    this.#place = asked === 'start' ? null : asked === 'end' ? (last === undefined ? null : placeOf(last)) : asked;
    this.#index = log.indexAfter(this.#place);
  }

  async run(id: string): Promise<void> {
    await this.#send(confirmation(id));
    let live = false;
    while (!this.#call.cancelled) {
      if (this.#behaviour.muted() || this.#index >= this.#log.records.length) {
        if (!live && !this.#behaviour.muted()) {
          live = true;
          await this.#goLive();
          continue;
        }
        await this.#log.changed();
        continue;
      }
      if (live && this.#log.records.length - this.#index > LIVE_BACKLOG) {
        live = false;
        await this.#send(fellBehind());
      }
      await this.#page(live);
    }
  }

  async #goLive(): Promise<void> {
    const last = this.#log.records.at(-1);
    if (last !== undefined && this.#index === this.#log.records.length) {
      // The end of the log, where the next record will begin. No record has this position.
      const end = { commit: last.end, prepare: 0n };
      if (this.#place === null || isAfter(end, this.#place)) await this.#checkpoint(end);
    }
    if (this.#behaviour.sendsCaughtUp()) await this.#send(caughtUp());
  }

  async #page(live: boolean): Promise<void> {
    const page = this.#log.records.slice(this.#index, this.#index + PAGE);
    // A checkpoint in the past is the beginning of its page, before the first record of the page. When no record
    // matched, the checkpoint lies after the examined records.
    const began: Place = { commit: page[0]?.offset ?? 0n, prepare: 0n };
    this.#index += page.length;
    for (const record of page) {
      if (this.#call.cancelled) return;
      this.#considered++;
      if (this.#matches(record)) {
        await this.#send(eventMessage(record));
        this.#place = placeOf(record);
      }
      if (this.#considered >= this.#interval) {
        this.#considered = 0;
        await this.#checkpoint(live ? placeOf(record) : began);
      }
    }
  }

  async #checkpoint(at: Place): Promise<void> {
    const place = this.#place !== null && isAfter(this.#place, at) ? this.#place : at;
    this.#place = place;
    this.#behaviour.onCheckpoint();
    await this.#send(checkpoint(place));
  }

  async #send(message: ReadResp): Promise<void> {
    if (this.#call.cancelled || this.#call.writableEnded) return;
    if (!this.#call.write(message)) await roomToWrite(this.#call);
  }
}

/** Resolves when the caller has read enough, or when it will read nothing more. */
export function roomToWrite(call: ReadCall): Promise<void> {
  const events = ['drain', 'cancelled', 'close'];
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of events) call.removeListener(event, done);
      resolve();
    };
    for (const event of events) call.on(event, done);
  });
}

function matcher(filter: ReadReq.Options.FilterOptions | undefined): Matches {
  if (filter === undefined) return () => true;
  const expression = filter.getStreamIdentifier() ?? filter.getEventType();
  const value: (record: LogRecord) => string = filter.hasStreamIdentifier()
    ? ({ stream }) => stream
    : ({ type }) => type;
  const prefixes = expression?.getPrefixList() ?? [];
  const regex = expression?.getRegex() ?? '';
  if (regex === '') return (record) => prefixes.some((prefix) => value(record).startsWith(prefix));
  const pattern = new RegExp(regex, 'u');
  return (record) => pattern.test(value(record));
}
