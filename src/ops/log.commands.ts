// ops audit verify | stream show | timeline: for investigators
import { Command, CommandRunner, Option, SubCommand } from 'nest-commander';
import type { RecordedEvent } from '../kernel/fact.js';
import { isId } from '../kernel/ids.js';
import { overallStatusOf } from '../modules/screening/domain/overall-status.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import type { SessionEvent, SessionState } from '../modules/screening/domain/session.js';
import { verifyChains } from '../platform/audit/verify.js';
import { UpcastingEventStore } from '../platform/upcasting/upcasting-event-store.js';
import { EventStore } from '../ports/event-store.js';
import { print, WrongInput } from './operator.js';

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
export class AuditCommand extends CommandRunner {
  override run(): Promise<void> {
    return Promise.resolve(this.command.help());
  }
}

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
export class StreamCommand extends CommandRunner {
  override run(): Promise<void> {
    return Promise.resolve(this.command.help());
  }
}

@Command({ name: 'timeline', arguments: '<session>', description: 'A screening session event by event: who did it, and the state it led to' })
export class TimelineCommand extends CommandRunner {
  constructor(private readonly store: EventStore) {
    super();
  }

  @Option({ flags: '--as-of <time>', description: 'the session as it was then (ISO 8601 with a zone)' })
  readAsOf(text: string): Date {
    const time = new Date(text);
    if (Number.isNaN(time.getTime()) || !/(Z|[+-]\d{2}:?\d{2})$/.test(text)) throw new WrongInput('--as-of must be an ISO 8601 time with a zone, such as 2026-01-31T12:00:00Z.');
    return time;
  }

  override async run([sessionId = '']: string[], { asOf }: { readonly asOf?: Date } = {}): Promise<void> {
    const history = isId(sessionId) ? await this.store.readStream(`${screeningSession.category}-${sessionId}`) : [];
    if (history.length === 0) throw new WrongInput(`There is no screening session ${sessionId}.`);
    let state: SessionState = screeningSession.initial;
    for (const event of history as RecordedEvent<SessionEvent>[]) {
      const { occurredAt, actor, $correlationId } = event.metadata;
      if (asOf && new Date(occurredAt) > asOf) break;
      state = screeningSession.evolve(state, event as SessionEvent);
      print({ at: occurredAt, revision: event.revision, event: event.type, actor, requestId: $correlationId, status: state.status, data: event.data });
    }
    print({ asOf: (asOf ?? new Date()).toISOString(), state, ...(state.status === 'NONE' ? {} : { overallStatus: overallStatusOf(state) }) });
  }
}
