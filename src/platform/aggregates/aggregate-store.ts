// The read-decide-append loop. Every use case that changes something uses this class or GroupedStream.
import type { AnyDecider, CommandTo } from '../../kernel/command-to.js';
import type { Clock } from '../../kernel/clock.js';
import type { ActionContext } from '../../kernel/context.js';
import type { Decider } from '../../kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../kernel/domain-event.js';
import { unstored, type LoadedAggregate } from '../../kernel/loaded-aggregate.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';
import { AggregateCache, type Fold } from './aggregate-cache.js';
import {
  appendOf,
  decided,
  noteEffect,
  streamOf,
  untilStored,
  type AggregateObserver,
  type AnyResult,
  type CommandResult,
} from './decided.js';
import { KeyedMutex } from './keyed-mutex.js';
import { momentOf } from './recorded-events.js';
import { TestTraffic } from './test-traffic.js';

export { unstored, type CommandResult, type Fold, type LoadedAggregate };

type ResultOf<Of extends AnyDecider> = CommandResult<Of['initial'], ReturnType<Of['decide']>[number]>;

/** Handles new events before the caller continues. Never throws: the subscription repeats events that failed here. */
export interface InlineEventHandlers {
  handleInline(events: readonly RecordedEvent[]): Promise<void>;
}

/** Streams of this length are remembered. Callers may make any stream grow, and the cost of a command must not grow with the stream. */
const LONG = 200;

/**
 * Loads an aggregate, lets its decider decide, and appends the result at exactly the revision that was loaded. After a conflict, all of this is
 * repeated a few times. A command makes no outside call. After an append, the inline event handlers run before the caller continues. The read models
 * are also updated before the caller continues, unless the stream is long.
 */
export class AggregateStore {
  private readonly streams: AggregateCache;
  /** Commands of one process take turns on a stream, so that they conflict only with other processes. */
  private readonly turns = new KeyedMutex();

  constructor(
    private readonly store: EventStore,
    private readonly readModels: Pick<ReadModels, 'applyNow'>,
    private readonly clock: Clock,
    private readonly observer: AggregateObserver,
    private readonly testTraffic: TestTraffic = new TestTraffic(),
    /** The event handlers that are marked inline. */
    private readonly handlers: InlineEventHandlers = { handleInline: async () => undefined },
  ) {
    this.streams = new AggregateCache(store, LONG);
  }

  /** Also loads a state of another kind than the decider's state. */
  load<State, Event extends DomainEvent>(folded: Fold<State, Event>, id: string): Promise<LoadedAggregate<State>> {
    return this.streams.load(folded, streamOf(folded, id));
  }

  /**
   * `known` is the aggregate in the state that the caller has seen, or `unstored` when it should not exist yet. `known` saves the first read. Throws
   * the decider's errors, EventStoreUnavailable when the log is unavailable, and `service.unavailable` when other processes keep changing the stream.
   */
  async execute<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    aggregate: string | Pick<CommandTo<Decider<State, Command, Event>>, 'id' | 'known'>,
    command: Command,
    context: ActionContext,
  ): Promise<CommandResult<State, Event>> {
    const at = typeof aggregate === 'string' ? { id: aggregate } : aggregate;
    const [result] = await this.appendTogether([{ decider, ...at, command }], context);
    return result;
  }

  /**
   * Runs commands to different aggregates and appends their events in this order, in as few appends as the log allows. Returns the result of each.
   * When one is refused, none is stored. After the death of the process, an outage, or a conflict on EventStoreDB, only the first events may be
   * stored (`EventStore.appendTogether`). The caller must tolerate a partly stored result. After a conflict, only the commands that are not stored
   * are decided again.
   */
  async appendTogether<const Deciders extends readonly AnyDecider[]>(
    commands: { readonly [Index in keyof Deciders]: CommandTo<Deciders[Index]> },
    context: ActionContext,
  ): Promise<{ readonly [Index in keyof Deciders]: ResultOf<Deciders[Index]> }> {
    this.testTraffic.admitCommand(context);
    // The streams are sorted, so that two callers never wait for each other.
    const streams = commands.map(({ decider, id }) => streamOf(decider, id)).sort();
    const results = await this.inTurn(streams, () => this.untilAppended(commands, context));
    const changed = results.filter(({ events }) => events.length > 0);
    if (!context.skipReadYourWrites) await Promise.all(changed.map((result) => this.show(result)));
    for (const { events } of changed) await this.handlers.handleInline(events);
    return results as { readonly [Index in keyof Deciders]: ResultOf<Deciders[Index]> };
  }

  private async show({ history }: LoadedAggregate<unknown>): Promise<void> {
    await this.readModels.applyNow(history);
  }

  private inTurn<Result>([stream, ...others]: readonly string[], work: () => Promise<Result>): Promise<Result> {
    return stream === undefined ? work() : this.turns.oneAtATime(stream, () => this.inTurn(others, work));
  }

  private untilAppended(commands: readonly CommandTo<AnyDecider>[], context: ActionContext): Promise<AnyResult[]> {
    const made: AnyResult[] = [];
    const categories = commands.map(({ decider }) => decider.category);
    return untilStored(categories, async (attempt) => {
      const left = commands.slice(made.length);
      const known = await Promise.all(
        left.map(
          async (command) =>
            (attempt === 1 ? command.known : undefined) ?? (await this.load(command.decider, command.id)),
        ),
      );
      const results = await this.append(left, known, context);
      for (const result of results) noteEffect(result, context);
      made.push(...results);
      return made.length === commands.length ? made : null;
    });
  }

  /** The results of all commands, or of the first commands that a conflict left stored. */
  private async append(
    commands: readonly CommandTo<AnyDecider>[],
    known: readonly LoadedAggregate<unknown>[],
    context: ActionContext,
  ): Promise<readonly AnyResult[]> {
    const moment = await momentOf(this.clock, context);
    const all = commands.map((command, place) => {
      const before = known[place] as LoadedAggregate<unknown>;
      const result = decided(command, before, context, moment);
      const { decider, id } = command;
      return { decider, place, result, append: appendOf(streamOf(decider, id), before, result) };
    });
    const written = all.filter(({ result }) => result.events.length > 0);
    const [first, ...others] = written.map(({ append }) => append);
    if (first === undefined) return all.map(({ result }) => result);
    const outcome =
      others.length > 0
        ? await this.store.appendTogether([first, ...others])
        : { index: 0, stored: 0, ...(await this.store.append(first.stream, first.expected, first.events)) };
    const lost = outcome.outcome === 'conflict' ? written[outcome.index] : undefined;
    if (lost) this.observer.appendConflict(lost.decider.category);
    const stored = outcome.outcome === 'conflict' ? written.slice(0, outcome.stored) : written;
    for (const { decider, append, result } of stored) this.streams.remember(decider, append.stream, result);
    return all.slice(0, lost ? (stored.at(-1)?.place ?? -1) + 1 : all.length).map(({ result }) => result);
  }
}
