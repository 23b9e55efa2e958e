// The webhook endpoint of an account, with the places in the log where it changed. Other events are judged by their place in the log,
// because the clocks of two hosts differ and a clock may be set back.
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { webhookEndpoint, type Endpoint, type EndpointEvent, type EndpointState } from './endpoint.js';

/** The events that the endpoint takes from this place in the log on. */
interface Choice {
  readonly from: string;
  readonly enabledEvents: readonly string[] | null;
  readonly disabled: boolean;
}

/** A change of health that a contact is to be told of. */
export interface UntoldChange {
  /** Id of the event. */
  readonly about: string;
  readonly url: string;
}

/** Times are ISO 8601 UTC. */
export interface EndpointRecord extends EndpointState {
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Since when the status is what it is. */
  readonly statusAt: string;
  /** When the count of its failures began, and where in the log. */
  readonly run: { readonly at: string; readonly from: string };
  /** Of the current endpoint, oldest first, bounded. */
  readonly choices: readonly Choice[];
  readonly untold: readonly UntoldChange[];
}

/** The most choices that are remembered. An event before the oldest of them is not sent any more. */
const MOST_CHOICES = 200;
/** Changes of health that wait for their mail, at most: a mail that was given up waits for ever. */
const MOST_UNTOLD = 100;

export const endpointRecord = {
  category: webhookEndpoint.category,
  initial: {
    current: null,
    createdAt: '',
    updatedAt: '',
    statusAt: '',
    run: { at: '', from: '' },
    choices: [],
    untold: [],
  } as EndpointRecord,

  evolve(before: EndpointRecord, event: RecordedEvent & EndpointEvent): EndpointRecord {
    const { occurredAt } = event.metadata;
    const { current } = webhookEndpoint.evolve(before, event);
    const same = current !== null && current.endpointId === before.current?.endpointId;
    const untold = untoldAfter(before, event);
    if (!same)
      return {
        current,
        createdAt: occurredAt,
        updatedAt: occurredAt,
        statusAt: occurredAt,
        run: { at: occurredAt, from: event.position },
        choices: current === null ? [] : [choiceOf(current, event)],
        untold,
      };
    return {
      current,
      createdAt: before.createdAt,
      updatedAt: event.type === 'WebhookHealthNotified' ? before.updatedAt : occurredAt,
      statusAt: current.status === before.current.status ? before.statusAt : occurredAt,
      run: current.run === before.current.run ? before.run : { at: occurredAt, from: event.position },
      choices: choseAgain(before.current, current)
        ? [...before.choices, choiceOf(current, event)].slice(-MOST_CHOICES)
        : before.choices,
      untold,
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

function untoldAfter(
  { current: before, untold }: EndpointRecord,
  event: RecordedEvent & EndpointEvent,
): EndpointRecord['untold'] {
  switch (event.type) {
    case 'WebhookHealthNotified':
      return untold.filter(({ about }) => about !== event.data.about);
    case 'WebhookEndpointRecovered':
      // A success among failures of an endpoint that was never failing is no change of its health.
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

/** The current endpoint as it was at a place in the log; null when it was not there yet, or was disabled. */
export function endpointAt(
  { current, choices }: EndpointRecord,
  position: string,
): Pick<Endpoint, 'endpointId' | 'enabledEvents'> | null {
  const choice = choices.findLast(({ from }) => from <= position);
  if (current === null || choice === undefined || choice.disabled) return null;
  return { endpointId: current.endpointId, enabledEvents: choice.enabledEvents };
}
