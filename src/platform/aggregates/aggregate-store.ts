// The read-decide-append loop. Every use case that changes something goes through here and nowhere else.
import type { ActorKind } from '../../kernel/actor.js';
import type { AnyDecider, Change, CommandTo } from '../../kernel/change.js';
import type { Clock } from '../../kernel/clock.js';
import { fold, type Decider } from '../../kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../kernel/domain-event.js';
import { DomainError } from '../../kernel/domain-error.js';
import { ownerOf, unstored, type LoadedAggregate } from '../../kernel/loaded-aggregate.js';
import { type EventStore, UnstorableEvent } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';
import type { ActionContext, Owner } from '../../kernel/context.js';
import { AggregateCache, type Fold } from './aggregate-cache.js';
import { type Asked, Gathering } from './gathering.js';
import { KeyedMutex } from './keyed-mutex.js';
import { asNewEvent, recordedEvents } from './recorded-events.js';

export { unstored, type Fold, type LoadedAggregate };

/** The aggregate after a command; may be handed to the next `execute` as what is known, to spare it the read. */
export interface CommandResult<State, Event extends DomainEvent> extends LoadedAggregate<State> {
  /** What this command led to; empty when it changed nothing. Their position is not known yet and empty. */
  readonly events: readonly RecordedEvent<Event>[];
}

type ResultOf<Of extends AnyDecider> = CommandResult<Of['initial'], ReturnType<Of['decide']>[number]>;

type AnyChange = Change<unknown, DomainEvent>;
type AnyResult = CommandResult<unknown, DomainEvent>;

interface Decided {
  readonly change: AnyChange;
  readonly before: LoadedAggregate<unknown>;
  readonly result: AnyResult;
}

/** A command that may be appended together with those of other callers. */
interface Gathered {
  readonly change: AnyChange;
  readonly context: ActionContext;
}

/** Handles what was appended just now, before the caller goes on. Never throws: what fails is done by the subscription. */
export interface InlineEventHandlers {
  handleInline(events: readonly RecordedEvent[]): Promise<void>;
}

export interface AggregateObserver {
  appendConflict(category: string): void;
}

/** A stream of so many events is read as that of a long-lived aggregate is, whatever its decider says: callers may make any stream grow. */
const LONG = 200;
/** Of states that are only looked at. */
const LOOKED_AT_BYTES = 8 * 2 ** 20;

/**
 * Commands of one process take turns, so that tries are lost to other processes. A process that appends without a break wins some six of
 * seven tries from the others; so many are lost in a row once in millions of times.
 */
const MAX_TRIES = 100;
/** After so long there is no other try: of a log that is far away, not all of them. */
const MAX_MS = 10_000;
/** The longest pause before another try. It does not grow: a process that waited longer each time would go on losing to one that never waits. */
const PAUSE_MS = 8;

/** Beyond its share by this factor, test traffic gets nothing any more but what the service does by itself. */
const TEST_GRACE = 1.1;
/** Those who act by themselves follow from what callers did, and live traffic may wait behind them. */
const CALLERS: ReadonlySet<ActorKind> = new Set<ActorKind>([
  'platform-token',
  'secret-key',
  'api-key',
  'dashboard-user',
]);

/**
 * Loads an aggregate, lets its decider decide, and appends what it decided at exactly the revision it saw. On a conflict
 * all of it is done again, up to a limit; no outside call happens inside. After an append the read models see it before
 * the caller does, unless the decider is long-lived or stateless or the stream has become long, and the event handlers marked inline have run.
 */
export class AggregateStore {
  private readonly seen: AggregateCache;
  private readonly lookedAt: AggregateCache;
  private readonly turns = new KeyedMutex();
  private readonly gathering = new Gathering<Gathered, AnyResult>(this.turns, (asked) => this.appendGathered(asked));

  constructor(
    private readonly store: EventStore,
    private readonly readModels: Pick<ReadModels, 'applyNow'>,
    private readonly clock: Clock,
    private readonly observer: AggregateObserver,
    /** How much test traffic has used of its share of the log; 1 is all of it. */
    private readonly testUsage: () => number = () => 0,
    /** The event handlers marked inline. */
    private readonly handlers: InlineEventHandlers = { handleInline: async () => undefined },
  ) {
    this.seen = new AggregateCache(store);
    this.lookedAt = new AggregateCache(store, LOOKED_AT_BYTES);
  }

  /** For a use case that begins something, before it does anything: test traffic that has used up its share begins nothing, and goes on with what it has begun. */
  admit({ environment }: Owner): void {
    if (environment === 'test') this.refuseTestBeyond(1);
  }

  async load<State, Event extends DomainEvent>(
    decider: Change<State, Event>['decider'],
    id: string,
  ): Promise<LoadedAggregate<State>> {
    const stream = streamOf({ decider, id });
    if (decider.stateless) return this.newest(decider.initial, stream);
    const history = decider.longLived ? [] : await this.store.readStream(stream, { limit: LONG });
    if (decider.longLived || history.length === LONG) return this.seen.load(decider, stream);
    return {
      state: fold<State, Event>(decider, history as Iterable<Pick<Event, 'type' | 'data'>>),
      revision: history.at(-1)?.revision ?? null,
      owner: history[0] ? ownerOf(history[0]) : null,
      history,
    };
  }

  /** For reading a stream again and again without changing it: reads only what this process has not seen. `last` is the newest event. */
  async loadCached<State, Event extends DomainEvent>(
    folded: Fold<State, Event>,
    id: string,
  ): Promise<{ readonly state: State; readonly owner: Owner | null; readonly last: RecordedEvent | null }> {
    const { state, owner, history } = await this.lookedAt.load(folded, streamOf({ decider: folded, id }));
    return { state, owner, last: history.at(-1) ?? null };
  }

  /**
   * As `execute`, for an aggregate that should not exist yet: nothing is read before it is decided on. If it does exist, the
   * command is decided again on what is there.
   */
  create<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    command: Command,
    context: ActionContext,
  ): Promise<CommandResult<State, Event>> {
    return this.execute(decider, id, command, context, unstored(decider.initial));
  }

  /**
   * Throws what the decider throws, EventStoreUnavailable when the log is away, and a `service.unavailable` error when other
   * processes keep changing the stream.
   */
  execute<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    command: Command,
    context: ActionContext,
    known?: LoadedAggregate<State>,
  ): Promise<CommandResult<State, Event>> {
    const decide = (state: State): readonly Event[] => decider.decide(command, state);
    return this.executeTogether([], { decider, id, decide, ...(known && { known }) }, context);
  }

  /**
   * Commands to different aggregates, appended in this order, in as few appends as the log can make of them. Gives what became of
   * each. A refusal of any of them stores none. But a process that dies, an outage, and on EventStoreDB a conflict leave the first
   * of them stored without the rest (`EventStore.appendTogether`), so the caller must be right with that. After a conflict only
   * what is not stored is decided again.
   */
  async appendTogether<const Deciders extends readonly AnyDecider[]>(
    commands: { readonly [Index in keyof Deciders]: CommandTo<Deciders[Index]> },
    context: ActionContext,
  ): Promise<{ readonly [Index in keyof Deciders]: ResultOf<Deciders[Index]> }> {
    const changes = commands.map(({ decider, id, command, known }): AnyChange => ({
      decider,
      id,
      decide: (state) => decider.decide(command, state),
      ...(known && { known }),
    }));
    return (await this.made(changes, context)) as { readonly [Index in keyof Deciders]: ResultOf<Deciders[Index]> };
  }

  /**
   * The earlier changes and then the last, of different aggregates, decided in this order, in as few appends as the log can make of
   * them; a refusal of any stores none. But a process that dies, an outage, and on EventStoreDB a conflict leave the first of them stored without
   * the rest (`EventStore.appendTogether`), so the caller must be right with that. After a conflict only what is not stored is
   * decided again. Gives what became of the last.
   */
  async executeTogether<State, Event extends DomainEvent>(
    earlier: readonly AnyChange[],
    last: Change<State, Event>,
    context: ActionContext,
  ): Promise<CommandResult<State, Event>> {
    return (await this.made([...earlier, last], context)).at(-1) as CommandResult<State, Event>;
  }

  private async made(changes: readonly AnyChange[], context: ActionContext): Promise<readonly AnyResult[]> {
    if (context.environment === 'test' && CALLERS.has(context.actor.kind)) this.refuseTestBeyond(TEST_GRACE);
    const [only, ...others] = changes;
    const mayBeGathered = only && others.length === 0 && only.known === undefined && !hasShortStream(only);
    const results = mayBeGathered
      ? [await this.gathering.add(streamOf(only), { change: only, context })]
      : await this.inTurn(changes.map(streamOf).sort(), () => this.untilAppended(changes, context));
    const shown = results.filter(({ events }, index) => events.length > 0 && hasShortStream(changes[index]));
    if (!context.skipReadYourWrites) await Promise.all(shown.map((result) => this.show(result)));
    for (const { events } of results) if (events.length > 0) await this.handlers.handleInline(events);
    return results;
  }

  /** For an aggregate that changed with `skipReadYourWrites` and of which a caller is to be told now. Of a long stream the read models see it later. */
  async show({ history }: LoadedAggregate<unknown>): Promise<void> {
    if (history[0]?.revision === 0) await this.readModels.applyNow(history);
  }

  /** The streams are sorted, so that no two commands wait for each other. */
  private inTurn<Result>([stream, ...others]: readonly string[], work: () => Promise<Result>): Promise<Result> {
    return stream === undefined ? work() : this.turns.oneAtATime(stream, () => this.inTurn(others, work));
  }

  private refuseTestBeyond(usage: number): void {
    if (this.testUsage() >= usage)
      throw new DomainError('service.unavailable', {
        cause: new Error('Test traffic has used up its share of the event log (TEST_LOG_SHARE)'),
      });
  }

  private async newest<State>(initial: State, stream: string): Promise<LoadedAggregate<State>> {
    const [event] = await this.store.readStream(stream, { direction: 'backwards', limit: 1 });
    if (event === undefined) return unstored(initial);
    return { state: initial, revision: event.revision, owner: ownerOf(event), history: [event] };
  }

  private untilAppended(changes: readonly AnyChange[], context: ActionContext): Promise<AnyResult[]> {
    const made: Decided[] = [];
    return this.untilDone(changes, async (attempt) => {
      const left = changes.slice(made.length);
      const loaded = await Promise.all(
        left.map(async ({ decider, id, known }) => (attempt === 1 ? known : undefined) ?? this.load(decider, id)),
      );
      const decided = left.map((change, place) => {
        const before = loaded[place] as LoadedAggregate<unknown>;
        return { change, before, result: this.decide(change, before, context) };
      });
      made.push(...(await this.append(decided)));
      for (const { result } of made) noteEffect(result, context);
      return made.length === changes.length ? made.map(({ result }) => result) : null;
    });
  }

  /** In one append, or each by itself where the log does not take them together. */
  private async appendGathered(asked: readonly Asked<Gathered, AnyResult>[]): Promise<void> {
    try {
      await this.untilGatheredAppended(asked);
    } catch (error) {
      // One of them cannot be stored, or all of them are too large.
      if (!(error instanceof UnstorableEvent) || asked.length === 1) throw error;
      for (const one of asked) await this.appendGathered([one]).catch((refusal: unknown) => one.reject(refusal));
    }
  }

  /**
   * All are of one stream and one decider. Each is answered when what it was decided on is stored: a refusal too may rest on what those
   * before it decided.
   */
  private async untilGatheredAppended(asked: readonly Asked<Gathered, AnyResult>[]): Promise<void> {
    const [{ item: first }] = asked as readonly [Asked<Gathered, AnyResult>];
    const answers = await this.untilDone([first.change], async () => {
      const before = await this.load(first.change.decider, first.change.id);
      const events: RecordedEvent[] = [];
      let last: AnyResult = { ...before, events };
      const decided = asked.map(({ item: { change, context }, resolve, reject }) => {
        try {
          const result = this.decide(change, { ...last, history: last.history.slice(-1) }, context);
          events.push(...result.events);
          last = result;
          return () => {
            noteEffect(result, context);
            resolve(result);
          };
        } catch (error) {
          return () => reject(error);
        }
      });
      const made = await this.append([{ change: first.change, before, result: { ...last, events } }]);
      return made.length > 0 ? decided : null;
    });
    for (const answer of answers) answer();
  }

  /** Tries until there is a result. */
  private async untilDone<Result>(
    changes: readonly AnyChange[],
    work: (attempt: number) => Promise<Result | null>,
  ): Promise<Result> {
    const until = performance.now() + MAX_MS;
    for (let attempt = 1; attempt <= MAX_TRIES && performance.now() < until; attempt++) {
      const result = await work(attempt);
      if (result !== null) return result;
      // Processes that lost together must not meet again at once.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS));
    }
    const categories = changes.map(({ decider }) => decider.category).join(', ');
    throw new DomainError('service.unavailable', { cause: new Error(`${categories} stays contended`) });
  }

  private decide(change: AnyChange, before: LoadedAggregate<unknown>, context: ActionContext): AnyResult {
    const decided = change.decide(before.state);
    if (decided.length === 0) return { ...before, events: [] };
    const events = recordedEvents(streamOf(change), before, decided, context, this.clock.now());
    return {
      state: decided.reduce((state, event) => change.decider.evolve(state, event), before.state),
      revision: events.at(-1)?.revision ?? null,
      owner: before.owner ?? { accountId: context.accountId, environment: context.environment },
      history: [...before.history, ...events],
      events,
    };
  }

  /** Gives what is made of it: all, or what a conflict lets stand. */
  private async append(decided: readonly Decided[]): Promise<readonly Decided[]> {
    const written = decided.filter(({ result }) => result.events.length > 0);
    const appends = written.map(({ change, before, result }) => ({
      stream: streamOf(change),
      expected: before.revision ?? ('no-stream' as const),
      events: result.events.map(asNewEvent),
    }));
    const [first, second] = appends;
    if (first === undefined) return decided;
    const outcome =
      second === undefined
        ? { index: 0, stored: 0, ...(await this.store.append(first.stream, first.expected, first.events)) }
        : await this.store.appendTogether(appends);
    const lost = outcome.outcome === 'conflict' ? written[outcome.index] : undefined;
    if (lost) this.observer.appendConflict(lost.change.decider.category);
    const stored = outcome.outcome === 'conflict' ? written.slice(0, outcome.stored) : written;
    for (const { change, result } of stored)
      if (change.decider.longLived) this.seen.remember(change.decider, streamOf(change), result);
    return lost ? decided.slice(0, decided.findIndex((one) => one === stored.at(-1)) + 1) : decided;
  }
}

function noteEffect({ events }: AnyResult, { effect }: ActionContext): void {
  if (effect && events.length > 0) effect.done = true;
}

/** Of others not all of the history is at hand. */
function hasShortStream(change: AnyChange | undefined): boolean {
  return !change?.decider.longLived && !change?.decider.stateless;
}

function streamOf({ decider, id }: { readonly decider: { readonly category: string }; readonly id: string }): string {
  return `${decider.category}-${id}`;
}
