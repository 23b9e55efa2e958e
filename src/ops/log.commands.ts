// ops audit verify | stream show | timeline: for investigators
import { Command, CommandRunner, Option, SubCommand } from 'nest-commander';
import { categoryOf, type RecordedEvent } from '../kernel/fact.js';
import { isId } from '../kernel/ids.js';
import type { Projection } from '../kernel/projection.js';
import { payment, paymentId } from '../modules/payments/domain/payment.js';
import { report } from '../modules/reports/domain/report.js';
import { reportShares } from '../modules/reports/read/report-shares.js';
import { reportViews } from '../modules/reports/read/report-views.js';
import { overallStatusOf } from '../modules/screening/domain/overall-status.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import type { SessionEvent, SessionState } from '../modules/screening/domain/session.js';
import { verifyChains } from '../platform/audit/verify.js';
import { UpcastingEventStore } from '../platform/upcasting/upcasting-event-store.js';
import { EventStore } from '../ports/event-store.js';
import { ReadModels } from '../ports/read-models.js';
import { CommandGroup } from './command-group.js';
import { print, timeIn, WrongInput } from './operator.js';

/** The log as it is stored, without upcasters in between. */
function stored(store: EventStore): EventStore {
  return store instanceof UpcastingEventStore ? store.raw : store;
}

@SubCommand({ name: 'verify', description: 'Walk the hash chains of all streams; exit code 1 when one is broken' })
export class VerifyAuditCommand extends CommandRunner {
  constructor(private readonly store: EventStore) {
    super();
  }

  override async run(): Promise<void> {
    const { broken, ...report } = await verifyChains(stored(this.store));
    for (const link of broken) print(link);
    print({ ...report, brokenLinks: broken.length });
    if (broken.length > 0) process.exitCode = 1;
  }
}

@Command({ name: 'audit', description: 'Integrity of the log', subCommands: [VerifyAuditCommand] })
export class AuditCommand extends CommandGroup {}

@SubCommand({ name: 'show', arguments: '<stream>', description: 'Every event of a stream as stored; the id alone means a screening session' })
export class ShowStreamCommand extends CommandRunner {
  constructor(private readonly store: EventStore) {
    super();
  }

  override async run([name = '']: string[]): Promise<void> {
    const stream = isId(name) ? `${screeningSession.category}-${name}` : name;
    const events = await stored(this.store).readStream(stream);
    if (events.length === 0) throw new WrongInput(`There is no stream ${stream}.`);
    for (const event of events) print(event);
  }
}

@Command({ name: 'stream', description: 'Single streams of the log', subCommands: [ShowStreamCommand] })
export class StreamCommand extends CommandGroup {}

@Command({ name: 'timeline', arguments: '<session>', description: 'A screening session with its payments, report, views and shares, event by event: who did what, and the state it led to' })
export class TimelineCommand extends CommandRunner {
  constructor(
    private readonly store: EventStore,
    private readonly readModels: ReadModels,
  ) {
    super();
  }

  @Option({ flags: '--as-of <time>', description: 'the session as it was then (ISO 8601 with a zone)' })
  readAsOf(text: string): Date {
    return timeIn(text, '--as-of');
  }

  override async run([sessionId = '']: string[], { asOf }: { readonly asOf?: Date } = {}): Promise<void> {
    const own = isId(sessionId) ? await this.store.readStream(`${screeningSession.category}-${sessionId}`) : [];
    if (own.length === 0) throw new WrongInput(`There is no screening session ${sessionId}.`);
    let state: SessionState = screeningSession.initial;
    for (const event of inOrder([...own, ...(await this.following(sessionId))])) {
      const { occurredAt, actor, $correlationId } = event.metadata;
      if (asOf && new Date(occurredAt) > asOf) break;
      const isOwn = categoryOf(event.stream) === screeningSession.category;
      if (isOwn) state = screeningSession.evolve(state, event as RecordedEvent & SessionEvent);
      print({
        at: occurredAt,
        ...(isOwn ? {} : { stream: event.stream }),
        revision: event.revision,
        event: event.type,
        actor,
        requestId: $correlationId,
        ...(isOwn ? { status: state.status } : {}),
        data: event.data,
      });
    }
    print({ asOf: (asOf ?? new Date()).toISOString(), state, ...(state.status === 'NONE' ? {} : { overallStatus: overallStatusOf(state) }) });
  }

  /** What followed from the session in other streams. */
  private async following(sessionId: string): Promise<RecordedEvent[]> {
    const events = await this.store.readStream(`${report.category}-${sessionId}`);
    for (let ordinal = 0; ; ordinal++) {
      const payments = await this.store.readStream(`${payment.category}-${paymentId(sessionId, ordinal)}`);
      if (payments.length === 0) break;
      events.push(...payments);
    }
    return [...events, ...(await this.listed(reportViews, sessionId)), ...(await this.listed(reportShares, sessionId))];
  }

  private async listed<Doc extends object>(projection: Projection<Doc>, sessionId: string): Promise<RecordedEvent[]> {
    const ids = await this.readModels.idsIn(projection, `session:${sessionId}`, MAX_FOLLOWING);
    return (await Promise.all(ids.map((id) => this.store.readStream(`${projection.category}-${id}`)))).flat();
  }
}

const MAX_FOLLOWING = 10_000;

/** Ids are made when an event is, and sort by time; within a stream, its own order holds. */
function inOrder(events: readonly RecordedEvent[]): RecordedEvent[] {
  return [...events].sort((one, other) => (one.stream === other.stream ? one.revision - other.revision : one.id < other.id ? -1 : 1));
}
