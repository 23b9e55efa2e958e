// The webhook endpoint of an account. An account has one at a time, and its stream also has the earlier endpoints. Source:
// docs/contract/webhooks.md#endpoint, #endpoint-health, #secrets.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Environment } from '../../../kernel/environment.js';

export type EndpointEvent =
  | DomainEvent<
      'WebhookEndpointRegistered',
      {
        readonly endpointId: string;
        readonly url: string;
        /** Null means all current and future types. */
        readonly enabledEvents: readonly string[] | null;
        /** Whether the endpoint has a contact for health notifications. The vault stores the address. */
        readonly notifies: boolean;
        readonly secretId: string;
        /** Absent: `v1` only. */
        readonly signatures?: readonly SignatureVersion[];
        /** Absent: no limit. */
        readonly maxPerSecond?: number;
        /** The endpoint gets nothing until its account makes it active. */
        readonly disabled?: true;
      }
    >
  | DomainEvent<'WebhookUrlChanged', { readonly endpointId: string; readonly url: string }>
  | DomainEvent<
      'WebhookEventsChosen',
      { readonly endpointId: string; readonly enabledEvents: readonly string[] | null }
    >
  | DomainEvent<'WebhookContactChosen', { readonly endpointId: string; readonly notifies: boolean }>
  | DomainEvent<
      'WebhookSignaturesChosen',
      { readonly endpointId: string; readonly signatures: readonly SignatureVersion[] }
    >
  /** Null ends the limit. */
  | DomainEvent<'WebhookRateChosen', { readonly endpointId: string; readonly maxPerSecond: number | null }>
  /** The account has a new key pair, which signs at once. Its previous one also signs until `previousExpiresAt`; null: it had none. */
  | DomainEvent<'WebhookKeyMade', { readonly endpointId: string; readonly previousExpiresAt: string | null } & NewKey>
  /** The new secret signs at once. The previous secret also signs until `previousExpiresAt`. Earlier secrets no longer sign. */
  | DomainEvent<
      'WebhookSecretRotated',
      { readonly endpointId: string; readonly secretId: string; readonly previousExpiresAt: string }
    >
  /**
   * A delivery of an active endpoint has used all its attempts. `consecutive` counts since the last success. Earlier releases also counted the
   * deliveries of a failing endpoint.
   */
  | DomainEvent<
      'WebhookExhaustionCounted',
      {
        readonly endpointId: string;
        readonly deliveryId: string;
        readonly endedAt: string;
        readonly consecutive: number;
      }
    >
  | DomainEvent<'WebhookEndpointFailing', { readonly endpointId: string; readonly disableAfter: string }>
  /** A delivery succeeded after others had failed. */
  | DomainEvent<
      'WebhookEndpointRecovered',
      { readonly endpointId: string; readonly deliveryId: string; readonly endedAt: string }
    >
  | DomainEvent<'WebhookEndpointDisabled', { readonly endpointId: string; readonly reason: string }>
  | DomainEvent<'WebhookEndpointReactivated', { readonly endpointId: string }>
  /** A mail has informed the contact of a change of health. `about` is the id of the change's event. */
  | DomainEvent<'WebhookHealthNotified', { readonly endpointId: string; readonly about: string }>
  /** The account asked for the events of its feed from this sequence on, in order and before newer ones. */
  | DomainEvent<
      'WebhookResumeRequested',
      { readonly endpointId: string } & Omit<Resume, 'head'> & Partial<Pick<Resume, 'head'>>
    >
  /** The resume is over, or its endpoint was disabled or deleted. Events after the sequence `through` make deliveries as before. */
  | DomainEvent<
      'WebhookResumed',
      {
        readonly endpointId: string;
        readonly resumeId: string;
        readonly environment: Environment;
        readonly through: number;
      }
    >
  | DomainEvent<'WebhookEndpointDeleted', { readonly endpointId: string }>;

/** A resume that the service works on. */
export interface Resume {
  readonly resumeId: string;
  readonly environment: Environment;
  readonly from: number;
  /**
   * The last sequence of the feed at the request. The resume delivers up to it, and holds back later events. A request that replaces a working resume
   * keeps it.
   */
  readonly head: number;
}

/** The signatures of Standard Webhooks: `v1` is made with the endpoint's secret, `v1a` with the account's key pair. */
export type SignatureVersion = 'v1' | 'v1a';

/** A key pair of an account. The vault has its private part under `keyId`. */
export interface NewKey {
  readonly keyId: string;
  /** Base64. */
  readonly publicKey: string;
  /** ISO 8601 UTC. */
  readonly validFrom: string;
}

export interface SigningKey extends NewKey {
  /** Null for the newest key, which has no end. */
  readonly expiresAt: string | null;
}

export interface Endpoint {
  readonly endpointId: string;
  readonly status: 'active' | 'failing' | 'disabled';
  readonly url: string;
  readonly enabledEvents: readonly string[] | null;
  readonly notifies: boolean;
  readonly signatures: readonly SignatureVersion[];
  /** Scheduled attempts and redeliveries are spaced. Null: they are not. */
  readonly maxPerSecond: number | null;
  readonly secret: { readonly secretId: string };
  /** The secret before the last rotation, which may have expired. Null when the secret was never rotated. */
  readonly previousSecret: { readonly secretId: string; readonly expiresAt: string } | null;
  /** Counts until the endpoint is failing. Later failures are counted from the deliveries. */
  readonly consecutiveFailures: number;
  /** The number of the run of failures: how many times the count has begun again. A delivery counts only in the run in which it was exhausted. */
  readonly run: number;
  /** A failing endpoint is disabled at this time, unless a delivery succeeds before. Null when the endpoint is not failing. */
  readonly disableAfter: string | null;
  readonly disabledReason: string | null;
  /** At most one for each environment. A newer one replaces an earlier one, and a disabled endpoint has none. */
  readonly resumes: readonly Resume[];
  /** The deliveries that were counted last, so that none counts twice. */
  readonly counted: { readonly endedAt: string; readonly deliveryIds: readonly string[] } | null;
}

/** The state of one account. */
export interface EndpointState {
  readonly current: Endpoint | null;
  /** At most two, the newest first. They outlive the endpoint, and the next endpoint of the account has them. */
  readonly keys: readonly SigningKey[];
}

export interface HealthPolicy {
  /** This number of exhausted deliveries in a row makes an endpoint failing. */
  readonly failingAfter: number;
  readonly disableAfterSeconds: number;
}

export type EndpointCommand =
  | {
      readonly kind: 'register';
      readonly endpointId: string;
      readonly url: string;
      readonly enabledEvents: readonly string[] | null;
      readonly notifies: boolean;
      readonly secretId: string;
      readonly signatures?: readonly SignatureVersion[];
      readonly maxPerSecond?: number;
      readonly disabled?: true;
      /** Given if the endpoint has `v1a` and the account has no key pair. */
      readonly key?: NewKey;
    }
  /** Absent fields stay unchanged. A disabled endpoint becomes active again, and its counter and clock are reset. */
  | {
      readonly kind: 'change';
      readonly endpointId: string;
      readonly url?: string;
      readonly enabledEvents?: readonly string[] | null;
      readonly notifies?: boolean;
      readonly signatures?: readonly SignatureVersion[];
      readonly maxPerSecond?: number | null;
      readonly key?: NewKey;
      readonly resume?: Resume;
    }
  | {
      readonly kind: 'end-resume';
      readonly endpointId: string;
      readonly resumeId: string;
    }
  | {
      readonly kind: 'rotate';
      readonly endpointId: string;
      readonly secretId: string;
      /** Given if the endpoint has `v1a`. */
      readonly key?: NewKey;
      readonly previousExpiresAt: Date;
    }
  | {
      readonly kind: 'count-exhausted';
      readonly endpointId: string;
      readonly deliveryId: string;
      readonly endedAt: string;
      /** The endpoint's run when the delivery was exhausted. */
      readonly run: number;
      readonly now: Date;
      readonly policy: HealthPolicy;
    }
  | {
      readonly kind: 'count-success';
      readonly endpointId: string;
      readonly deliveryId: string;
      readonly endedAt: string;
    }
  | { readonly kind: 'disable-overdue'; readonly now: Date }
  | { readonly kind: 'note-notified'; readonly endpointId: string; readonly about: string }
  | { readonly kind: 'delete'; readonly endpointId: string };

export const webhookEndpoint: Decider<EndpointState, EndpointCommand, EndpointEvent> = {
  category: 'webhook_endpoint',
  initial: { current: null, keys: [] },
  decide,
  evolve,
};

function decide(command: EndpointCommand, state: EndpointState): readonly EndpointEvent[] {
  switch (command.kind) {
    case 'register': {
      const { kind: _, key: __, ...data } = command;
      const { endpointId } = data;
      if (state.current?.endpointId === endpointId) return [];
      if (state.current !== null && state.current.status !== 'disabled')
        throw new DomainError('webhook.endpoint_exists');
      const retired: EndpointEvent[] =
        state.current === null
          ? []
          : [{ type: 'WebhookEndpointDeleted', data: { endpointId: state.current.endpointId } }];
      return [...retired, { type: 'WebhookEndpointRegistered', data }, ...firstKey(command, state)];
    }
    case 'change':
      return [...change(command, current(state, command.endpointId)), ...firstKey(command, state)];
    case 'end-resume': {
      const { endpointId, resumeId } = command;
      return state.current?.endpointId === endpointId ? endsOf(state.current, resumeId) : [];
    }
    case 'rotate': {
      const { endpointId, secretId, key } = command;
      const endpoint = current(state, endpointId);
      if (endpoint.secret.secretId === secretId) return [];
      const previousExpiresAt = command.previousExpiresAt.toISOString();
      return [
        { type: 'WebhookSecretRotated', data: { endpointId, secretId, previousExpiresAt } },
        ...(key ? [keyMade(endpointId, key, previousExpiresAt)] : []),
      ];
    }
    case 'count-exhausted':
      return countExhausted(command, state.current);
    case 'count-success': {
      const { endpointId, deliveryId, endedAt } = command;
      const endpoint = state.current;
      if (endpoint?.endpointId !== endpointId || endpoint.status === 'disabled') return [];
      const ill = endpoint.consecutiveFailures > 0 || endpoint.status === 'failing';
      return ill ? [{ type: 'WebhookEndpointRecovered', data: { endpointId, deliveryId, endedAt } }] : [];
    }
    case 'disable-overdue': {
      const endpoint = state.current;
      if (
        endpoint?.status !== 'failing' ||
        endpoint.disableAfter === null ||
        command.now < new Date(endpoint.disableAfter)
      )
        return [];
      return [
        ...endsOf(endpoint),
        {
          type: 'WebhookEndpointDisabled',
          data: { endpointId: endpoint.endpointId, reason: 'NO_SUCCESSFUL_DELIVERY' },
        },
      ];
    }
    case 'note-notified':
      return [{ type: 'WebhookHealthNotified', data: { endpointId: command.endpointId, about: command.about } }];
    case 'delete': {
      const endpoint = current(state, command.endpointId);
      return [...endsOf(endpoint), { type: 'WebhookEndpointDeleted', data: { endpointId: endpoint.endpointId } }];
    }
    default:
      return command satisfies never;
  }
}

/** A caller cannot distinguish unknown endpoints, deleted endpoints and endpoints of other accounts. */
export function current(state: EndpointState, endpointId: string): Endpoint {
  if (state.current?.endpointId !== endpointId) throw new DomainError('webhook.endpoint_not_found');
  return state.current;
}

/** The key pair of an account is made once. When two requests ask for it, the first one's is kept. */
function firstKey(
  { endpointId, key }: { readonly endpointId: string; readonly key?: NewKey },
  { keys }: EndpointState,
): readonly EndpointEvent[] {
  return key && keys.length === 0 ? [keyMade(endpointId, key, null)] : [];
}

function keyMade(endpointId: string, key: NewKey, previousExpiresAt: string | null): EndpointEvent {
  return { type: 'WebhookKeyMade', data: { endpointId, ...key, previousExpiresAt } };
}

function change(
  {
    endpointId,
    url,
    enabledEvents,
    notifies,
    signatures,
    maxPerSecond,
    resume,
  }: Extract<EndpointCommand, { kind: 'change' }>,
  endpoint: Endpoint,
): readonly EndpointEvent[] {
  const events: EndpointEvent[] = [];
  if (url !== undefined && url !== endpoint.url) events.push({ type: 'WebhookUrlChanged', data: { endpointId, url } });
  if (enabledEvents !== undefined && JSON.stringify(enabledEvents) !== JSON.stringify(endpoint.enabledEvents)) {
    events.push({ type: 'WebhookEventsChosen', data: { endpointId, enabledEvents } });
  }
  // Only the vault stores the address. A new address that replaces another address is a change too.
  if (notifies !== undefined && (notifies || endpoint.notifies))
    events.push({ type: 'WebhookContactChosen', data: { endpointId, notifies } });
  if (signatures !== undefined && signatures.length !== endpoint.signatures.length)
    events.push({ type: 'WebhookSignaturesChosen', data: { endpointId, signatures } });
  if (maxPerSecond !== undefined && maxPerSecond !== endpoint.maxPerSecond)
    events.push({ type: 'WebhookRateChosen', data: { endpointId, maxPerSecond } });
  if (endpoint.status === 'disabled') events.push({ type: 'WebhookEndpointReactivated', data: { endpointId } });
  if (resume !== undefined) events.push({ type: 'WebhookResumeRequested', data: { endpointId, ...resume } });
  return events;
}

/** Ends all resumes of the endpoint, or one of them. */
function endsOf({ endpointId, resumes }: Endpoint, only?: string): EndpointEvent[] {
  return resumes
    .filter(({ resumeId }) => only === undefined || resumeId === only)
    .map(({ resumeId, environment, head: through }) => ({
      type: 'WebhookResumed',
      data: { endpointId, resumeId, environment, through },
    }));
}

/** Whether an event of a feed waits until a resume is over. */
export function isHeldBack({ resumes }: Endpoint, { revision, metadata }: RecordedEvent): boolean {
  return resumes.some(({ environment, head }) => environment === metadata.environment && revision >= head);
}

/** The number of counted deliveries that are remembered. */
const REMEMBERED = 100;

/** When the memory is full, a delivery that is older than the last counted delivery is treated as counted. */
function wasCounted(deliveryId: string, endedAt: string, { counted }: Endpoint): boolean {
  if (counted === null) return false;
  const { deliveryIds } = counted;
  return deliveryIds.includes(deliveryId) || (deliveryIds.length === REMEMBERED && endedAt < counted.endedAt);
}

/** A dead receiver exhausts thousands of deliveries. When the endpoint is already failing, these deliveries add no events to the endpoint. */
function countExhausted(
  { endpointId, deliveryId, endedAt, run, now, policy }: Extract<EndpointCommand, { kind: 'count-exhausted' }>,
  endpoint: Endpoint | null,
): readonly EndpointEvent[] {
  if (endpoint?.endpointId !== endpointId || endpoint.status !== 'active' || endpoint.run !== run) return [];
  if (wasCounted(deliveryId, endedAt, endpoint)) return [];
  const consecutive = endpoint.consecutiveFailures + 1;
  const counted: EndpointEvent = {
    type: 'WebhookExhaustionCounted',
    data: { endpointId, deliveryId, endedAt, consecutive },
  };
  if (consecutive < policy.failingAfter) return [counted];
  const disableAfter = new Date(now.getTime() + policy.disableAfterSeconds * 1_000).toISOString();
  return [counted, { type: 'WebhookEndpointFailing', data: { endpointId, disableAfter } }];
}

/** The secrets that sign now, the current secret first (docs/contract/webhooks.md#secrets). */
export function signingSecrets({ secret, previousSecret }: Endpoint, now: Date): readonly string[] {
  const previous = previousSecret !== null && now < new Date(previousSecret.expiresAt) ? [previousSecret.secretId] : [];
  return [secret.secretId, ...previous];
}

/** The keys that sign for an endpoint with `v1a`, and verify what was signed, the newest first. */
export function validKeys({ keys }: Pick<EndpointState, 'keys'>, now: Date): readonly SigningKey[] {
  return keys.filter(({ expiresAt }) => expiresAt === null || now < new Date(expiresAt));
}

function evolve({ current, keys }: EndpointState, event: EndpointEvent): EndpointState {
  return {
    current: endpointAfter(current, event),
    keys: event.type === 'WebhookKeyMade' ? withKey(keys, event) : keys,
  };
}

function withKey(
  [before]: readonly SigningKey[],
  { data: { keyId, publicKey, validFrom, previousExpiresAt } }: Extract<EndpointEvent, { type: 'WebhookKeyMade' }>,
): readonly SigningKey[] {
  const previous = before ? [{ ...before, expiresAt: previousExpiresAt }] : [];
  return [{ keyId, publicKey, validFrom, expiresAt: null }, ...previous];
}

function endpointAfter(endpoint: Endpoint | null, event: EndpointEvent): Endpoint | null {
  if (event.type === 'WebhookEndpointRegistered') {
    const {
      endpointId,
      url,
      enabledEvents,
      notifies,
      secretId,
      signatures = ['v1'],
      maxPerSecond = null,
      disabled = false,
    } = event.data;
    return {
      endpointId,
      status: disabled ? 'disabled' : 'active',
      url,
      enabledEvents,
      notifies,
      signatures,
      maxPerSecond,
      secret: { secretId },
      previousSecret: null,
      consecutiveFailures: 0,
      run: 0,
      disableAfter: null,
      disabledReason: disabled ? 'CREATED_DISABLED' : null,
      resumes: [],
      counted: null,
    };
  }
  if (endpoint?.endpointId !== event.data.endpointId) return endpoint;
  const healthy = {
    status: 'active' as const,
    consecutiveFailures: 0,
    run: endpoint.run + 1,
    disableAfter: null,
    disabledReason: null,
  };
  switch (event.type) {
    case 'WebhookUrlChanged':
      return { ...endpoint, url: event.data.url };
    case 'WebhookEventsChosen':
      return { ...endpoint, enabledEvents: event.data.enabledEvents };
    case 'WebhookContactChosen':
      return { ...endpoint, notifies: event.data.notifies };
    case 'WebhookSignaturesChosen':
      return { ...endpoint, signatures: event.data.signatures };
    case 'WebhookRateChosen':
      return { ...endpoint, maxPerSecond: event.data.maxPerSecond };
    case 'WebhookSecretRotated':
      return {
        ...endpoint,
        secret: { secretId: event.data.secretId },
        previousSecret: { ...endpoint.secret, expiresAt: event.data.previousExpiresAt },
      };
    case 'WebhookExhaustionCounted':
      return { ...endpoint, consecutiveFailures: event.data.consecutive, counted: counting(endpoint, event.data) };
    case 'WebhookEndpointFailing':
      return { ...endpoint, status: 'failing', disableAfter: event.data.disableAfter };
    case 'WebhookEndpointRecovered':
      return { ...endpoint, ...healthy, counted: counting(endpoint, event.data) };
    case 'WebhookEndpointReactivated':
      return { ...endpoint, ...healthy };
    case 'WebhookEndpointDisabled':
      return {
        ...endpoint,
        status: 'disabled',
        disableAfter: null,
        disabledReason: event.data.reason,
        resumes: [],
      };
    case 'WebhookKeyMade':
    case 'WebhookHealthNotified':
      return endpoint;
    case 'WebhookResumeRequested': {
      const { resumeId, environment, from, head = from - 1 } = event.data;
      return {
        ...endpoint,
        resumes: [...without(endpoint, environment), { resumeId, environment, from, head }],
      };
    }
    case 'WebhookResumed':
      return { ...endpoint, resumes: without(endpoint, event.data.environment) };
    case 'WebhookEndpointDeleted':
      return null;
    default:
      return assertNever(event, endpoint);
  }
}

function without({ resumes }: Endpoint, environment: Environment): readonly Resume[] {
  return resumes.filter((one) => one.environment !== environment);
}

function counting(
  { counted }: Endpoint,
  { deliveryId, endedAt }: { readonly deliveryId: string; readonly endedAt: string },
): Endpoint['counted'] {
  return { endedAt, deliveryIds: [...(counted?.deliveryIds ?? []), deliveryId].slice(-REMEMBERED) };
}

/** The time when a timer must check the endpoint (ISO 8601 UTC), or null. */
export function healthDueAt({ current: endpoint }: EndpointState): string | null {
  return endpoint?.status === 'failing' ? endpoint.disableAfter : null;
}
