// The webhook endpoint of an account, with the positions in the log where it changed. Events are compared with these positions rather than with
// times, because the clocks of two hosts differ and a clock may be set back.
import { machineTimeOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import type { Environment } from '../../../kernel/environment.js';
import { webhookEndpoint, type Endpoint, type EndpointEvent, type EndpointState } from './endpoint.js';

/** The event types that the endpoint gets from this position in the log on. */
interface Choice {
  readonly from: string;
  readonly enabledEvents: readonly string[] | null;
  readonly disabled: boolean;
}

/** The newest request of a resume in an environment. Events that the feed gets later are due, even if they were stored before the request. */
interface Request {
  readonly environment: Environment;
  /** The last sequence of the feed at the request. */
  readonly head: number;
  /** The position of the request in the log. */
  readonly position: string;
}

/** A change of health about which no mail was sent yet. */
export interface UntoldChange {
  /** The id of the event. */
  readonly about: string;
  readonly url: string;
}

/** Times are ISO 8601 UTC. */
export interface EndpointRecord extends EndpointState {
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The time when the endpoint got its present status. */
  readonly statusAt: string;
  /** The machine's time of the last change. */
  readonly recordedAt: string;
  /** The time and the position in the log where the count of its failures began. */
  readonly run: { readonly at: string; readonly from: string };
  /** The choices of event types that the current endpoint has had. The oldest is first, and the length is limited. */
  readonly choices: readonly Choice[];
  readonly untold: readonly UntoldChange[];
  /** At most one for each environment. */
  readonly requests: readonly Request[];
}

/** The number of choices that are remembered. Events from before the oldest choice are no longer sent. */
const MOST_CHOICES = 200;
/** The number of unsent mails that are remembered. The state needs a limit, because mails that could not be sent stay in it for ever. */
const MOST_UNTOLD = 100;

export const endpointRecord = {
  category: webhookEndpoint.category,
  initial: {
    current: null,
    keys: [],
    createdAt: '',
    updatedAt: '',
    statusAt: '',
    recordedAt: '',
    run: { at: '', from: '' },
    choices: [],
    untold: [],
    requests: [],
  } as EndpointRecord,

  evolve(before: EndpointRecord, event: RecordedEvent & EndpointEvent): EndpointRecord {
    const { occurredAt } = event.metadata;
    const { current, keys } = webhookEndpoint.evolve(before, event);
    const same = current !== null && current.endpointId === before.current?.endpointId;
    const untold = untoldAfter(before, event);
    if (!same)
      return {
        current,
        keys,
        createdAt: occurredAt,
        updatedAt: occurredAt,
        statusAt: occurredAt,
        recordedAt: machineTimeOf(event.metadata),
        run: { at: occurredAt, from: event.position },
        choices: current === null ? [] : [choiceOf(current, event)],
        untold,
        requests: [],
      };
    return {
      current,
      keys,
      createdAt: before.createdAt,
      updatedAt: event.type === 'WebhookHealthNotified' ? before.updatedAt : occurredAt,
      statusAt: current.status === before.current.status ? before.statusAt : occurredAt,
      recordedAt: machineTimeOf(event.metadata),
      run: current.run === before.current.run ? before.run : { at: occurredAt, from: event.position },
      choices: choseAgain(before.current, current)
        ? [...before.choices, choiceOf(current, event)].slice(-MOST_CHOICES)
        : before.choices,
      untold,
      requests: requestsAfter(before, current, event),
    };
  },
};

function choiceOf({ enabledEvents, status }: Endpoint, { position }: RecordedEvent): Choice {
  return { from: position, enabledEvents, disabled: status === 'disabled' };
}

function choseAgain(before: Endpoint, after: Endpoint): boolean {
  return (
    before.enabledEvents !== after.enabledEvents || (before.status === 'disabled') !== (after.status === 'disabled')
  );
}

/** A request that replaces a working resume has the same head, and does not count as another request. */
function requestsAfter(
  { requests }: EndpointRecord,
  { resumes }: Endpoint,
  { type, position }: RecordedEvent,
): EndpointRecord['requests'] {
  if (type !== 'WebhookResumeRequested') return requests;
  const newest = resumes.at(-1);
  const same = requests.find(({ environment }) => environment === newest?.environment);
  if (newest === undefined || same?.head === newest.head) return requests;
  const { environment, head } = newest;
  return [...requests.filter((one) => one !== same), { environment, head, position }];
}

function untoldAfter(
  { current: before, untold }: EndpointRecord,
  event: RecordedEvent & EndpointEvent,
): EndpointRecord['untold'] {
  switch (event.type) {
    case 'WebhookHealthNotified':
      return untold.filter(({ about }) => about !== event.data.about);
    case 'WebhookEndpointRecovered':
      // The endpoint was not failing, so the success does not change its health.
      if (before?.status !== 'failing') return untold;
      break;
    case 'WebhookEndpointFailing':
    case 'WebhookEndpointDisabled':
    case 'WebhookEndpointReactivated':
      break;
    default:
      return untold;
  }
  if (before?.endpointId !== event.data.endpointId || !before.notifies) return untold;
  return [...untold, { about: event.id, url: before.url }].slice(-MOST_UNTOLD);
}

/**
 * The current endpoint in its state at the place of the stored event behind an event of a feed. If the feed got the event after a later request of a
 * resume, the state at the request counts. Null when the endpoint did not exist yet, or was disabled.
 */
export function endpointAt(
  { current, choices, requests }: EndpointRecord,
  { revision, metadata }: RecordedEvent,
  sourcePosition: string,
): Pick<Endpoint, 'endpointId' | 'enabledEvents'> | null {
  const request = requests.find(({ environment, head }) => environment === metadata.environment && revision >= head);
  const position = request !== undefined && request.position > sourcePosition ? request.position : sourcePosition;
  const choice = choices.findLast(({ from }) => from <= position);
  if (current === null || choice === undefined || choice.disabled) return null;
  return { endpointId: current.endpointId, enabledEvents: choice.enabledEvents };
}

/** Since when a worker must resume (ISO 8601 UTC), or null. */
export function resumeDueAt({ current, recordedAt }: EndpointRecord): string | null {
  return current !== null && current.resumes.length > 0 ? recordedAt : null;
}
