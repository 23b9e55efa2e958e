// ops timeline
import { Command, Option } from 'nest-commander';
import { machineNow } from '../kernel/machine-time.js';
import { fold, type Decider } from '../kernel/decider.js';
import { categoryOf, type DomainEvent, idOf, machineTimeOf, type RecordedEvent } from '../kernel/domain-event.js';
import { payment } from '../modules/payments/domain/payment.js';
import { report } from '../modules/reports/domain/report.js';
import { share } from '../modules/reports/domain/share.js';
import { overallStatusOf } from '../modules/screening/domain/overall-status.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import type { SessionEvent, SessionState } from '../modules/screening/domain/session.js';
import { EventStore } from '../ports/event-store.js';
import { eventsAbout } from './events-about.js';
import { timeIn, WrongInput } from './operator.js';
import { print, printRow } from './output.js';
import { OperatorLists } from './operator-lists.js';
import { OperatorRecord, PurposedCommand, type PurposeValues } from './operator-record.js';

interface TimelineValues extends PurposeValues {
  readonly asOf?: Date;
}

@Command({
  name: 'timeline',
  arguments: '<session>',
  description:
    'Show a screening session event by event, with its person, party, payments, report, views and shares: the actor, the event and the states',
})
export class TimelineCommand extends PurposedCommand {
  constructor(
    private readonly store: EventStore,
    private readonly lists: OperatorLists,
    private readonly record: OperatorRecord,
  ) {
    super();
  }

  @Option({ flags: '--as-of <time>', description: 'the session as it was then (ISO 8601 with a zone)' })
  readAsOf(text: string): Date {
    const time = timeIn(text, '--as-of');
    if (time > new Date(machineNow())) throw new WrongInput('--as-of must not be in the future.');
    return time;
  }

  override async run([sessionId = '']: string[], { asOf, ...values }: TimelineValues = {}): Promise<void> {
    this.record.purposeIn(values);
    const about = await eventsAbout(sessionId, this.store, this.lists);
    if (about.length === 0) throw new WrongInput(`There is no screening session ${sessionId}.`);
    await this.record.look({ tool: 'timeline', subject: { kind: 'screening', id: sessionId } }, values);
    let state: SessionState = screeningSession.initial;
    const until = asOf ?? new Date(machineNow());
    // The clocks of several machines differ, so an event may have an earlier time than its predecessor.
    const shown = about.filter(({ metadata }) => !asOf || new Date(machineTimeOf(metadata)) <= asOf);
    for (const event of shown) {
      const { occurredAt, actor, askedBy, vendorCall, reason, ticket, $correlationId } = event.metadata;
      const category = categoryOf(event.stream);
      const isOwn = category === screeningSession.category;
      if (isOwn) state = screeningSession.evolve(state, event as RecordedEvent & SessionEvent);
      const [stream, status] = isOwn ? [undefined, state.status] : [event.stream, undefined];
      const { revision, type, data } = event;
      // JSON leaves out what is undefined.
      printRow(
        {
          at: occurredAt,
          stream,
          revision,
          event: type,
          actor,
          reason,
          ticket,
          askedBy,
          requestId: $correlationId,
          vendorCall,
          status,
          data,
        },
        { at: occurredAt, event: type, status, actor: actor.kind, stream: category },
      );
    }
    print({
      asOf: until.toISOString(),
      state,
      ...(state.status === 'NONE' ? {} : { overallStatus: overallStatusOf(state) }),
      ...statesIn(shown),
    });
  }
}

const PARTS: Readonly<Record<string, Pick<Decider<unknown, never, DomainEvent>, 'category' | 'initial' | 'evolve'>>> = {
  payments: payment,
  reports: report,
  shares: share,
};

/** The states of the payments, the report and the shares after these events, by their ids. */
function statesIn(events: readonly RecordedEvent[]): Readonly<Record<string, object>> {
  const found: Record<string, Record<string, unknown>> = {};
  for (const [part, decider] of Object.entries(PARTS))
    for (const stream of new Set(events.map((event) => event.stream)))
      if (categoryOf(stream) === decider.category)
        (found[part] ??= {})[idOf(stream)] = fold(
          decider,
          events.filter((event) => event.stream === stream),
        );
  return found;
}
