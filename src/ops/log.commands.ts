// For investigators: the log as it is, a session's history as it was at any time, and whether anything was tampered with.
import { Command, CommandRunner, Option, SubCommand } from 'nest-commander';
import { isId } from '../kernel/ids.js';
import type { Actor } from '../kernel/actor.js';
import type { RecordedEvent } from '../kernel/fact.js';
import { overallStatusOf } from '../modules/screening/domain/overall-status.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import type { SessionEvent, SessionState } from '../modules/screening/domain/session.js';
import { verifyChains } from '../platform/audit/verify.js';
import { UpcastingEventStore } from '../platform/upcasting/upcasting-event-store.js';
import { EventStore } from '../ports/event-store.js';
import { fail, print } from './terminal.js';

@SubCommand({ name: 'verify', description: 'Walks the hash chains of all streams; exit code 1 when one is broken' })
export class AuditVerify extends CommandRunner {
  constructor(private readonly store: EventStore) {
    super();
  }

  override async run(): Promise<void> {
    const raw = this.store instanceof UpcastingEventStore ? this.store.raw : this.store;
    const report = await verifyChains(raw);
    for (const { stream, revision, eventId, fault } of report.broken) print(`BROKEN ${stream} @${revision} (${eventId}): ${fault}`);
    print(`${report.events} events in ${report.streams} streams through position ${report.through ?? '(empty)'}: ${report.broken.length === 0 ? 'every chain holds' : `${report.broken.length} broken links`}`);
    if (report.broken.length > 0) process.exitCode = 1;
  }
}

@Command({ name: 'audit', description: 'Integrity of the log', subCommands: [AuditVerify] })
export class Audit extends CommandRunner {
  override run(): Promise<void> {
    this.command.help();
  }
}

@SubCommand({ name: 'show', arguments: '<stream>', description: 'Every event of a stream, as stored, one JSON object a line' })
export class StreamShow extends CommandRunner {
  constructor(private readonly store: EventStore) {
    super();
  }

  override async run([stream = '']: string[]): Promise<void> {
    const raw = this.store instanceof UpcastingEventStore ? this.store.raw : this.store;
    // A bare id is taken for a screening session, which is what people have at hand.
    const events = await raw.readStream(isId(stream) ? `${screeningSession.category}-${stream}` : stream);
    if (events.length === 0) return fail(`There is no stream ${stream}.`);
    for (const event of events) print(JSON.stringify(event));
  }
}

@Command({ name: 'stream', description: 'Single streams of the log', subCommands: [StreamShow] })
export class Stream extends CommandRunner {
  override run(): Promise<void> {
    this.command.help();
  }
}

interface TimelineOptions {
  readonly asOf?: Date;
}

@Command({ name: 'timeline', arguments: '<session>', description: 'A screening session event by event, with who did it and the state it led to' })
export class Timeline extends CommandRunner {
  constructor(private readonly store: EventStore) {
    super();
  }

  @Option({ flags: '--as-of <time>', description: 'Only what had happened by then (ISO 8601)' })
  parseAsOf(text: string): Date {
    const time = new Date(text);
    if (Number.isNaN(time.getTime())) fail(`--as-of must be an ISO 8601 time, not "${text}".`);
    return time;
  }

  override async run([sessionId = '']: string[], { asOf }: TimelineOptions = {}): Promise<void> {
    const all = isId(sessionId) ? await this.store.readStream(`${screeningSession.category}-${sessionId}`) : [];
    if (all.length === 0) return fail(`There is no screening session ${sessionId}.`);
    const events = asOf ? all.filter(({ metadata }) => new Date(metadata.occurredAt) <= asOf) : all;
    let state: SessionState = screeningSession.initial;
    for (const event of events) {
      state = screeningSession.evolve(state, event as RecordedEvent as unknown as SessionEvent);
      print(`${event.metadata.occurredAt}  ${String(event.revision).padStart(3)}  ${event.type.padEnd(22)} ${statusOf(state).padEnd(17)} ${actorText(event.metadata.actor)}  request ${event.metadata.$correlationId}`);
      print(`     ${JSON.stringify(event.data)}`);
    }
    print(`${asOf ? `As of ${asOf.toISOString()}` : 'Now'}: ${events.length === 0 ? 'nothing had happened yet' : JSON.stringify(state)}`);
    if (state.status !== 'NONE') print(`Overall status: ${overallStatusOf(state)}`);
  }
}

function statusOf(state: SessionState): string {
  return state.status;
}

function actorText({ kind, id }: Actor): string {
  return `${kind} ${id}`;
}
