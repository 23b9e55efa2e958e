// The read-decide-append loop. Every use case that changes something goes through here and nowhere else.
import type { ActorKind } from '../../kernel/actor.js';
import type { Clock } from '../../kernel/clock.js';
import { fold, type Decider } from '../../kernel/decider.js';
import type { DomainEvent, EventMetadata, RecordedEvent } from '../../kernel/domain-event.js';
import { newId } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import { DomainError } from '../../kernel/domain-error.js';
import type { EventStore, NewEvent } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';
import { genesisOf, linkTo } from '../audit/chain.js';
import type { ActionContext, Owner } from '../../kernel/context.js';
import { AggregateCache } from './aggregate-cache.js';
import { KeyedMutex } from './keyed-mutex.js';
import { ownerOf, unstored, type LoadedAggregate } from './loaded-aggregate.js';

export { unstored, type LoadedAggregate };

/** The aggregate after a command; may be handed to the next `execute` as what is known, to spare it the read. */
export interface CommandResult<State, Event extends DomainEvent> extends LoadedAggregate<State> {
  /** What this command led to; empty when it changed nothing. Their position is not known yet and empty. */
  readonly events: readonly RecordedEvent<Event>[];
}

/** Handles what was appended just now, before the caller goes on. Never throws: what fails is done by the subscription. */
export interface InlineEventHandlers {
  handleInline(events: readonly RecordedEvent[]): Promise<void>;
}

export interface AggregateObserver {
  appendConflict(category: string): void;
}

/** Commands of one process take turns, so that a try is lost to another process only. */
const MAX_TRIES = 8;
/** Of the pause before the second try; it doubles with each. */
const PAUSE_MS = 4;

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
 * the caller does, unless the decider is long-lived (`Decider.longLived`), and the event handlers marked inline have run.
 */
export class AggregateStore {
  private readonly seen: AggregateCache;
  private readonly turns = new KeyedMutex();

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
  }

  /** For a use case that begins something, before it does anything: test traffic that has used up its share begins nothing, and goes on with what it has begun. */
  admit({ environment }: Owner): void {
    if (environment === 'test') this.refuseTestBeyond(1);
  }

  async load<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
  ): Promise<LoadedAggregate<State>> {
    const stream = `${decider.category}-${id}`;
    if (decider.longLived) return this.seen.load(decider, stream);
    const history = await this.store.readStream(stream);
    const [first] = history;
    return {
      state: fold<State, Event>(decider, history as Iterable<Pick<Event, 'type' | 'data'>>),
      revision: history.at(-1)?.revision ?? null,
      owner: first ? ownerOf(first) : null,
      history,
    };
  }

  /** For reading a stream again and again without changing it: reads only what this process has not seen. `last` is the newest event. */
  async loadCached<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
  ): Promise<{ readonly state: State; readonly last: RecordedEvent | null }> {
    const { state, history } = await this.seen.load(decider, `${decider.category}-${id}`);
    return { state, last: history.at(-1) ?? null };
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
  async execute<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    command: Command,
    context: ActionContext,
    known?: LoadedAggregate<State>,
  ): Promise<CommandResult<State, Event>> {
    if (context.environment === 'test' && CALLERS.has(context.actor.kind)) this.refuseTestBeyond(TEST_GRACE);
    const result = await this.turns.oneAtATime(`${decider.category}-${id}`, () =>
      this.untilAppended(decider, id, command, context, known),
    );
    if (result.events.length > 0 && !decider.longLived && !context.skipReadYourWrites)
      await this.readModels.applyNow(result.history);
    if (result.events.length > 0) await this.handlers.handleInline(result.events);
    return result;
  }

  private refuseTestBeyond(usage: number): void {
    if (this.testUsage() >= usage)
      throw new DomainError('service.unavailable', {
        cause: new Error('Test traffic has used up its share of the event log (TEST_LOG_SHARE)'),
      });
  }

  private async untilAppended<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    command: Command,
    context: ActionContext,
    known: LoadedAggregate<State> | undefined,
  ): Promise<CommandResult<State, Event>> {
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const loaded = (attempt === 1 ? known : undefined) ?? (await this.load(decider, id));
      const result = await this.decideAndAppend(decider, `${decider.category}-${id}`, command, context, loaded);
      if (result !== null) return result;
      // Processes that lost together must not meet again at once.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS * 2 ** attempt));
    }
    throw new DomainError('service.unavailable', { cause: new Error(`${decider.category} stays contended`) });
  }

  /** Null when the stream has moved on since it was loaded. */
  private async decideAndAppend<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
    command: Command,
    context: ActionContext,
    loaded: LoadedAggregate<State>,
  ): Promise<CommandResult<State, Event> | null> {
    const decided = decider.decide(command, loaded.state);
    if (decided.length === 0) return { ...loaded, events: [] };
    const recorded = this.record(stream, loaded, decided, context);
    const outcome = await this.store.append(stream, loaded.revision ?? 'no-stream', recorded.map(asNewEvent));
    if (outcome.outcome !== 'appended') {
      this.observer.appendConflict(decider.category);
      return null;
    }
    const result = {
      state: decided.reduce((before, event) => decider.evolve(before, event), loaded.state),
      revision: outcome.revision,
      owner: loaded.owner ?? { accountId: context.accountId, environment: context.environment },
      history: [...loaded.history, ...recorded],
      events: recorded,
    };
    if (decider.longLived) this.seen.remember(stream, result);
    return result;
  }

  private record<Event extends DomainEvent>(
    stream: string,
    loaded: LoadedAggregate<unknown>,
    decided: readonly Event[],
    context: ActionContext,
  ): RecordedEvent<Event>[] {
    const occurredAt = this.clock.now().toISOString();
    let revision = loaded.revision ?? -1;
    let prev = loaded.history.at(-1)?.metadata.chain.hash ?? genesisOf(stream);
    return decided.map((event) => {
      revision += 1;
      const id = newId();
      const metadata: Omit<EventMetadata, 'chain'> = {
        schemaVersion: schemaVersionOf(event.type),
        accountId: context.accountId,
        environment: context.environment,
        occurredAt,
        $correlationId: context.correlationId,
        $causationId: context.causationId,
        actor: context.actor,
      };
      const chain = linkTo(prev, { id, type: event.type, stream, revision, data: event.data, metadata });
      prev = chain.hash;
      // The position is the store's to give; the read models that get this event before the store delivers it do not look at it.
      return {
        id,
        stream,
        revision,
        position: '',
        type: event.type,
        data: event.data,
        metadata: { ...metadata, chain },
      };
    });
  }
}

/** 2 of `Thing.v2`; 1 of `Thing`. */
function schemaVersionOf(type: string): number {
  const suffix = /\.v(\d+)$/.exec(type);
  return suffix ? Number(suffix[1]) : 1;
}

function asNewEvent(event: RecordedEvent): NewEvent {
  return {
    id: event.id,
    type: event.type,
    data: event.data as JsonObject,
    metadata: event.metadata as unknown as JsonObject,
  };
}
