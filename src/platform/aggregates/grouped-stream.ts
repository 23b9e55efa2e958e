import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnyDecider, CommandTo } from '../../kernel/command-to.js';
import type { Clock } from '../../kernel/clock.js';
import type { ActionContext } from '../../kernel/context.js';
import type { Decider } from '../../kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../kernel/domain-event.js';
import { ownerOf, unstored, type LoadedAggregate } from '../../kernel/loaded-aggregate.js';
import { Unavailable } from '../../kernel/unavailable.js';
import { type EventStore, UnstorableEvent } from '../../ports/event-store.js';
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
import { momentOf, type Moment } from './recorded-events.js';
import { TestTraffic } from './test-traffic.js';

/** Decisions on a group of this size block the event loop for a few milliseconds at most. */
const MOST_TOGETHER = 100;

interface Asked extends CommandTo<AnyDecider> {
  readonly context: ActionContext;
  readonly moment: Moment;
  readonly resolve: (result: AnyResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Handles streams that never end and get many simultaneous commands, such as an account's credit or the looks at a report. Commands that arrive
 * during an append share the next append. Each command is decided on the state after the commands before it. The state is remembered. Read models and
 * event handlers get the events of such a stream through their subscription.
 */
export class GroupedStream {
  private readonly states: AggregateCache;
  /** The waiting commands of each stream. A stream is in the map while a group of its commands is appended. */
  private readonly waiting = new Map<string, Asked[]>();

  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    private readonly observer: AggregateObserver,
    private readonly testTraffic: TestTraffic = new TestTraffic(),
  ) {
    this.states = new AggregateCache(store, 0);
  }

  async load<State, Event extends DomainEvent>(
    folded: Fold<State, Event> & Pick<AnyDecider, 'newestOnly'>,
    id: string,
  ): Promise<LoadedAggregate<State>> {
    const stream = streamOf(folded, id);
    if (!folded.newestOnly) return this.states.load(folded, stream);
    const [newest] = await this.store.readStream(stream, { direction: 'backwards', limit: 1 });
    if (newest === undefined) return unstored(folded.initial);
    const state = folded.evolve(folded.initial, newest as RecordedEvent & Event);
    return { state, revision: newest.revision, owner: ownerOf(newest), history: [newest] };
  }

  /** Throws like `AggregateStore.execute`. */
  async execute<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    command: Command,
    context: ActionContext,
  ): Promise<CommandResult<State, Event>> {
    this.testTraffic.admitCommand(context);
    // Other commands of the group may belong to a request with another time.
    const moment = await momentOf(this.clock, context);
    const result = await new Promise<AnyResult>((resolve, reject) => {
      const stream = streamOf(decider, id);
      const asked = { decider, id, command, context, moment, resolve, reject };
      const waiting = this.waiting.get(stream);
      if (waiting === undefined) void this.appendAll(stream, [asked]);
      else waiting.push(asked);
    });
    return result as CommandResult<State, Event>;
  }

  private async appendAll(stream: string, waiting: Asked[]): Promise<void> {
    this.waiting.set(stream, waiting);
    // Waits for the commands that arrive in the same turn.
    await nextTurn();
    while (waiting.length > 0) await this.append(stream, waiting.splice(0, MOST_TOGETHER));
    this.waiting.delete(stream);
  }

  /** Answers each command. The stream makes one append, or one for each command when the log does not accept them together. */
  private async append(stream: string, group: readonly Asked[]): Promise<void> {
    try {
      await this.untilAppended(stream, group);
    } catch (error) {
      // One event of the group cannot be stored, or the group is too large.
      if (error instanceof UnstorableEvent && group.length > 1)
        for (const one of group) await this.append(stream, [one]);
      else {
        // While the log is unavailable, each later group would wait as long as this group.
        const others = error instanceof Unavailable ? (this.waiting.get(stream)?.splice(0) ?? []) : [];
        for (const { reject } of [...group, ...others]) reject(error);
      }
    }
  }

  /** Answers each command when the events before it are stored. A refusal may also depend on earlier events. */
  private async untilAppended(stream: string, group: readonly Asked[]): Promise<void> {
    const [{ decider, id }] = group as readonly [Asked];
    const answers = await untilStored([decider.category], async () => {
      const before = await this.load(decider, id);
      const answered: (() => void)[] = [];
      let last: AnyResult = { ...before, events: [] };
      const events = group.flatMap((asked) => {
        try {
          const known = { ...last, history: last.history.slice(-1) };
          const result = decided(asked, known, asked.context, asked.moment);
          answered.push(() => {
            noteEffect(result, asked.context);
            asked.resolve(result);
          });
          last = result;
          return result.events;
        } catch (error) {
          answered.push(() => asked.reject(error));
          return [];
        }
      });
      if (events.length === 0) return answered;
      const { expected, events: added } = appendOf(stream, before, { ...last, events });
      const { outcome } = await this.store.append(stream, expected, added);
      if (outcome === 'conflict') {
        this.observer.appendConflict(decider.category);
        return null;
      }
      if (!decider.newestOnly) this.states.remember(decider, stream, last);
      return answered;
    });
    for (const answer of answers) answer();
  }
}
