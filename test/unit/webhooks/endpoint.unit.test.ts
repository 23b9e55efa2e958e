// The webhook endpoint of an account (docs/contract/webhooks.md#endpoint, #endpoint-health).
import { describe, expect, it } from '@jest/globals';
import { fold } from '../../../src/kernel/decider.js';
import type { EventMetadata, RecordedEvent } from '../../../src/kernel/domain-event.js';
import type { Environment } from '../../../src/kernel/environment.js';
import {
  healthDueAt,
  isHeldBack,
  signingSecrets,
  validKeys,
  webhookEndpoint,
  type EndpointEvent,
} from '../../../src/modules/webhooks/domain/endpoint.js';
import { endpointRecord, resumeDueAt } from '../../../src/modules/webhooks/domain/endpoint-record.js';
import { given, type Given } from '../../support/decider.js';
import {
  at,
  delivered,
  ENDPOINT,
  exhausted,
  HEALTH,
  iso,
  OTHER,
  positionAt,
  register,
  registered,
} from './histories.js';

const endpoint = (...history: EndpointEvent[]) => given(webhookEndpoint, ...history);
type GivenEndpoint = ReturnType<typeof endpoint>;
const current = ({ state }: Pick<Given<GivenEndpoint['state'], never, never>, 'state'>) => {
  if (state.current === null) throw new Error('There is no endpoint');
  return state.current;
};
const failing = (): GivenEndpoint =>
  endpoint(registered()).when(exhausted('a', 1)).decided.when(exhausted('b', 2)).decided.when(exhausted('c', 3))
    .decided;
const disabled = (): GivenEndpoint => failing().when({ kind: 'disable-overdue', now: at(3 + 1 + 259_200) }).decided;
const change = (fields: object = {}, endpointId = ENDPOINT) => ({ kind: 'change' as const, endpointId, ...fields });

describe('registering an endpoint', () => {
  it('makes an active endpoint without any failures', () => {
    const made = endpoint()
      .when(register({ notifies: true, enabledEvents: ['report.shared'] }))
      .then(registered({ notifies: true, enabledEvents: ['report.shared'] }));
    expect(current(made)).toEqual({
      endpointId: ENDPOINT,
      status: 'active',
      url: 'https://hooks.example.com/a',
      enabledEvents: ['report.shared'],
      notifies: true,
      signatures: ['v1'],
      maxPerSecond: null,
      secret: { secretId: 'secret-1' },
      previousSecret: null,
      consecutiveFailures: 0,
      run: 0,
      disableAfter: null,
      disabledReason: null,
      resumes: [],
      counted: null,
    });
  });

  it('makes a disabled endpoint on request, which a change makes active', () => {
    const made = endpoint()
      .when(register({ disabled: true }))
      .then(registered({ disabled: true }));
    expect(current(made)).toMatchObject({ status: 'disabled', disabledReason: 'CREATED_DISABLED' });
    const active = made.when(change()).then({ type: 'WebhookEndpointReactivated', data: { endpointId: ENDPOINT } });
    expect(current(active)).toMatchObject({ status: 'active', disabledReason: null });
  });

  it('is refused while an active or failing endpoint exists', () => {
    endpoint(registered())
      .when(register({ endpointId: OTHER }))
      .thenRefused('webhook.endpoint_exists');
    failing()
      .when(register({ endpointId: OTHER }))
      .thenRefused('webhook.endpoint_exists');
  });

  it('again under the same id changes nothing', () => {
    endpoint(registered())
      .when(register({ url: 'https://elsewhere.example.com', secretId: 'secret-2' }))
      .then();
  });

  it('in the place of a disabled endpoint deletes the disabled endpoint', () => {
    const replaced = disabled()
      .when(register({ endpointId: OTHER }))
      .then({ type: 'WebhookEndpointDeleted', data: { endpointId: ENDPOINT } }, registered({ endpointId: OTHER }));
    expect(current(replaced)).toMatchObject({ endpointId: OTHER, status: 'active', consecutiveFailures: 0 });
  });
});

describe('changing an endpoint', () => {
  it('changes the named fields and leaves the rest', () => {
    const changed = endpoint(registered({ notifies: true }))
      .when(change({ url: 'https://b.example.com', enabledEvents: ['report.shared'], notifies: false }))
      .then(
        { type: 'WebhookUrlChanged', data: { endpointId: ENDPOINT, url: 'https://b.example.com' } },
        { type: 'WebhookEventsChosen', data: { endpointId: ENDPOINT, enabledEvents: ['report.shared'] } },
        { type: 'WebhookContactChosen', data: { endpointId: ENDPOINT, notifies: false } },
      );
    expect(current(changed)).toMatchObject({
      url: 'https://b.example.com',
      enabledEvents: ['report.shared'],
      notifies: false,
    });
    expect(current(changed.when(change({ url: 'https://c.example.com' })).decided)).toMatchObject({
      url: 'https://c.example.com',
      enabledEvents: ['report.shared'],
    });
  });

  it('chooses a number of attempts a second, and ends the limit when it is set to null', () => {
    const chosen = (maxPerSecond: number | null): EndpointEvent => ({
      type: 'WebhookRateChosen',
      data: { endpointId: ENDPOINT, maxPerSecond },
    });
    const limited = endpoint(registered({ maxPerSecond: 5 }))
      .when(change({ maxPerSecond: 7 }))
      .then(chosen(7));
    expect(current(limited).maxPerSecond).toBe(7);
    limited.when(change({ maxPerSecond: 7 })).then();
    expect(current(limited.when(change({ maxPerSecond: null })).then(chosen(null))).maxPerSecond).toBeNull();
  });

  it('selects all event types again when they are set to null', () => {
    const changed = endpoint(registered({ enabledEvents: ['report.shared'] }))
      .when(change({ enabledEvents: null }))
      .then({ type: 'WebhookEventsChosen', data: { endpointId: ENDPOINT, enabledEvents: null } });
    expect(current(changed).enabledEvents).toBeNull();
  });

  it('changes nothing when the values are the same or missing', () => {
    endpoint(registered({ enabledEvents: ['report.shared'] }))
      .when(change({ url: 'https://hooks.example.com/a', enabledEvents: ['report.shared'], notifies: false }))
      .then();
    endpoint(registered()).when(change()).then();
  });

  it('reactivates a disabled endpoint, and resets its counter and its clock', () => {
    const back = disabled()
      .when(change())
      .then({ type: 'WebhookEndpointReactivated', data: { endpointId: ENDPOINT } });
    expect(current(back)).toMatchObject({
      status: 'active',
      consecutiveFailures: 0,
      disableAfter: null,
      disabledReason: null,
    });
    expect(current(back.when(exhausted('d', 300_000, 1)).decided)).toMatchObject({
      status: 'active',
      consecutiveFailures: 1,
    });
  });

  it('does not make a failing endpoint active, because only a success does', () => {
    expect(current(failing().when(change({ url: 'https://b.example.com' })).decided)).toMatchObject({
      status: 'failing',
      consecutiveFailures: 3,
    });
  });
});

describe('the key pair of an account', () => {
  const key = (keyId: string, seconds = 0) => ({ keyId, publicKey: `public ${keyId}`, validFrom: iso(seconds) });
  const made = (keyId: string, previousExpiresAt: string | null = null, seconds = 0): EndpointEvent => ({
    type: 'WebhookKeyMade',
    data: { endpointId: ENDPOINT, ...key(keyId, seconds), previousExpiresAt },
  });
  const BOTH = ['v1', 'v1a'] as const;

  it('is made when an endpoint is registered with v1a', () => {
    const { state } = endpoint()
      .when({ ...register({ signatures: BOTH }), key: key('a') } as ReturnType<typeof register>)
      .then(registered({ signatures: BOTH }), made('a'));
    expect([state.current?.signatures, state.keys]).toEqual([BOTH, [{ ...key('a'), expiresAt: null }]]);
  });

  it('is made when a change first asks for v1a, and not again later', () => {
    const chosen = endpoint(registered())
      .when(change({ signatures: BOTH, key: key('a') }))
      .then({ type: 'WebhookSignaturesChosen', data: { endpointId: ENDPOINT, signatures: BOTH } }, made('a'));
    chosen.when(change({ signatures: BOTH, key: key('b') })).then();
    expect(chosen.when(change({ signatures: ['v1'] })).decided.state).toMatchObject({
      current: { signatures: ['v1'] },
      keys: [key('a')],
    });
  });

  it('stays when the endpoint is deleted, and the next endpoint has it', () => {
    const next = endpoint(registered({ signatures: BOTH }), made('a'))
      .when({ kind: 'delete', endpointId: ENDPOINT })
      .decided.when({ ...register({ endpointId: OTHER, signatures: BOTH }), key: key('b') } as ReturnType<
        typeof register
      >)
      .then(registered({ endpointId: OTHER, signatures: BOTH }));
    expect(next.state.keys).toMatchObject([key('a')]);
  });

  it('is replaced by a rotation, and the previous one is valid for a while', () => {
    const rotate = (name: string, expires: number) =>
      ({
        kind: 'rotate',
        endpointId: ENDPOINT,
        secretId: `s-${name}`,
        key: key(name),
        previousExpiresAt: at(expires),
      }) as const;
    const rotated = endpoint(registered({ signatures: BOTH }), made('a')).when(rotate('b', 100)).decided;
    const valid = (seconds: number, { state } = rotated): string[] =>
      validKeys(state, at(seconds)).map(({ keyId }) => keyId);
    expect([valid(99), valid(100)]).toEqual([['b', 'a'], ['b']]);
    expect(valid(50, rotated.when(rotate('c', 200)).decided)).toEqual(['c', 'b']);
    rotated.when(rotate('b', 300)).then();
  });
});

describe('an endpoint that is not the current one', () => {
  it.each([
    ['never existed', endpoint()],
    ['has another id', endpoint(registered({ endpointId: OTHER }))],
    ['was deleted', endpoint(registered(), { type: 'WebhookEndpointDeleted', data: { endpointId: ENDPOINT } })],
  ])('because it %s gets the same error for a change, a rotation and a deletion', (_what, one) => {
    one.when(change()).thenRefused('webhook.endpoint_not_found');
    one
      .when({ kind: 'rotate', endpointId: ENDPOINT, secretId: 's', previousExpiresAt: at(1) })
      .thenRefused('webhook.endpoint_not_found');
    one.when({ kind: 'delete', endpointId: ENDPOINT }).thenRefused('webhook.endpoint_not_found');
    one.when(exhausted('a', 1)).then();
    one.when(delivered('a', 1)).then();
  });

  it('does not affect the current one when its events arrive late', () => {
    const replaced = disabled().when(register({ endpointId: OTHER })).decided;
    expect(
      replaced.and(
        { type: 'WebhookHealthNotified', data: { endpointId: ENDPOINT, about: 'event' } },
        { type: 'WebhookEndpointDeleted', data: { endpointId: ENDPOINT } },
      ).state,
    ).toEqual(replaced.state);
  });
});

describe('secrets', () => {
  const rotate = (secretId: string, expires: number) => ({
    kind: 'rotate' as const,
    endpointId: ENDPOINT,
    secretId,
    previousExpiresAt: at(expires),
  });

  it('both sign after a rotation, the current one first, until the previous one has expired', () => {
    const rotated = endpoint(registered())
      .when(rotate('secret-2', 100))
      .then({
        type: 'WebhookSecretRotated',
        data: { endpointId: ENDPOINT, secretId: 'secret-2', previousExpiresAt: iso(100) },
      });
    expect(signingSecrets(current(rotated), at(99.999))).toEqual(['secret-2', 'secret-1']);
    expect(signingSecrets(current(rotated), at(100))).toEqual(['secret-2']);
  });

  it('are at most two, and a third drops the oldest', () => {
    const twice = endpoint(registered()).when(rotate('secret-2', 100)).decided.when(rotate('secret-3', 200)).decided;
    expect(signingSecrets(current(twice), at(50))).toEqual(['secret-3', 'secret-2']);
  });

  it('sign alone immediately after a rotation without overlap', () => {
    expect(signingSecrets(current(endpoint(registered()).when(rotate('secret-2', 0)).decided), at(0))).toEqual([
      'secret-2',
    ]);
  });

  it('stay the same when they are rotated again under the same id', () => {
    const rotated = endpoint(registered()).when(rotate('secret-2', 100)).decided;
    rotated.when(rotate('secret-2', 300)).then();
  });
});

describe('the health of an endpoint', () => {
  it('counts exhausted deliveries and is failing after the third in a row', () => {
    const one = endpoint(registered())
      .when(exhausted('a', 1))
      .then({
        type: 'WebhookExhaustionCounted',
        data: { endpointId: ENDPOINT, deliveryId: 'a', endedAt: iso(1), consecutive: 1 },
      });
    const two = one.when(exhausted('b', 2)).decided;
    expect(current(two)).toMatchObject({ status: 'active', consecutiveFailures: 2 });
    const three = two.when(exhausted('c', 3)).then(
      {
        type: 'WebhookExhaustionCounted',
        data: { endpointId: ENDPOINT, deliveryId: 'c', endedAt: iso(3), consecutive: 3 },
      },
      { type: 'WebhookEndpointFailing', data: { endpointId: ENDPOINT, disableAfter: iso(4 + 259_200) } },
    );
    expect([current(three).status, healthDueAt(three.state)]).toEqual(['failing', iso(4 + 259_200)]);
  });

  // A dead receiver exhausts thousands of deliveries. An event for each would make the stream grow without end.
  it('records no further exhaustion while it is failing, and its clock keeps the start', () => {
    const four = failing().when(exhausted('d', 1_000)).then();
    expect(current(four)).toMatchObject({ status: 'failing', consecutiveFailures: 3, disableAfter: iso(4 + 259_200) });
  });

  it('is the same when the stream has an event for each exhaustion', () => {
    const counted = (consecutive: number): EndpointEvent => ({
      type: 'WebhookExhaustionCounted',
      data: { endpointId: ENDPOINT, deliveryId: `d${consecutive}`, endedAt: iso(consecutive), consecutive },
    });
    const [first, second, third, ...others] = Array.from({ length: 4_000 }, (_, index) => counted(index + 1)) as [
      EndpointEvent,
      EndpointEvent,
      EndpointEvent,
      ...EndpointEvent[],
    ];
    const entered: EndpointEvent = {
      type: 'WebhookEndpointFailing',
      data: { endpointId: ENDPOINT, disableAfter: iso(259_204) },
    };
    const long = endpoint(registered(), first, second, third, entered, ...others);
    expect(current(long)).toMatchObject({
      status: 'failing',
      consecutiveFailures: 4_000,
      disableAfter: iso(259_204),
      counted: { endedAt: iso(4_000), deliveryIds: Array.from({ length: 100 }, (_, index) => `d${index + 3_901}`) },
    });
    long.when(exhausted('later', 5_000)).then();
    expect(current(long.when(delivered('e', 5_001)).decided)).toMatchObject({
      status: 'active',
      consecutiveFailures: 0,
    });
  });

  it('counts from zero again after any success', () => {
    const recovered = endpoint(registered())
      .when(exhausted('a', 1))
      .decided.when(exhausted('b', 2))
      .decided.when(delivered('c', 3))
      .then({ type: 'WebhookEndpointRecovered', data: { endpointId: ENDPOINT, deliveryId: 'c', endedAt: iso(3) } });
    expect(current(recovered.when(exhausted('d', 4, 1)).decided)).toMatchObject({
      status: 'active',
      consecutiveFailures: 1,
    });
  });

  it('is active again after a success, and a success changes nothing when the endpoint was healthy', () => {
    const well = failing().when(delivered('d', 10)).decided;
    expect(current(well)).toMatchObject({ status: 'active', consecutiveFailures: 0, disableAfter: null });
    expect(healthDueAt(well.state)).toBeNull();
    well.when(delivered('e', 11)).then();
  });

  it('counts a delivery once, even if its end is reported again', () => {
    const one = endpoint(registered()).when(exhausted('a', 1)).decided;
    one.when(exhausted('a', 1)).then();
    failing().when(exhausted('a', 1)).then();
    failing().when(exhausted('c', 3)).then();
  });

  it('ignores a late failure from before a success, or from before the owner reactivated the endpoint', () => {
    const recovered = failing().when(delivered('d', 10)).decided;
    recovered.when(exhausted('e', 9)).then();
    disabled().when(change()).decided.when(exhausted('e', 300_000)).then();
  });

  // The clock of a host may be slow, or may have been set back.
  it('counts the failures that follow a success in the log, whatever the clocks show, and counts every success', () => {
    const recovered = failing().when(delivered('d', 10)).decided;
    expect(current(recovered.when(exhausted('e', 9, 1)).decided)).toMatchObject({ consecutiveFailures: 1 });
    expect(current(failing().when(delivered('z', 2)).decided)).toMatchObject({ status: 'active' });
  });

  it('is disabled when its time has passed without a success, and not before', () => {
    failing()
      .when({ kind: 'disable-overdue', now: at(4 + 259_200 - 0.001) })
      .then();
    const ended = failing()
      .when({ kind: 'disable-overdue', now: at(4 + 259_200) })
      .then({ type: 'WebhookEndpointDisabled', data: { endpointId: ENDPOINT, reason: 'NO_SUCCESSFUL_DELIVERY' } });
    expect(current(ended)).toMatchObject({
      status: 'disabled',
      disabledReason: 'NO_SUCCESSFUL_DELIVERY',
      consecutiveFailures: 3,
    });
    expect(healthDueAt(ended.state)).toBeNull();
    ended.when({ kind: 'disable-overdue', now: at(9_999_999) }).then();
  });

  it('runs no clock while the endpoint is active', () => {
    endpoint(registered())
      .when({ kind: 'disable-overdue', now: at(9_999_999) })
      .then();
    endpoint()
      .when({ kind: 'disable-overdue', now: at(0) })
      .then();
  });

  it('stays disabled until the owner acts', () => {
    disabled().when(delivered('z', 300_000)).then();
    disabled().when(exhausted('z', 300_000)).then();
  });

  it('follows the configured limits', () => {
    const strict = { ...HEALTH, failingAfter: 1, disableAfterSeconds: 5 };
    const ill = endpoint(registered()).when({
      kind: 'count-exhausted',
      endpointId: ENDPOINT,
      deliveryId: 'a',
      endedAt: iso(1),
      run: 0,
      now: at(2),
      policy: strict,
    }).decided;
    expect(current(ill)).toMatchObject({ status: 'failing', disableAfter: iso(7) });
  });
});

it('a webhook endpoint ignores an event of a later version of the service', () => {
  const later = { type: 'WebhookSomethingNew', data: { endpointId: ENDPOINT } } as unknown as EndpointEvent;
  expect(fold(webhookEndpoint, [registered(), later])).toEqual(fold(webhookEndpoint, [registered()]));
});

describe('a resume', () => {
  const resume = (resumeId: string, from: number, environment: Environment = 'test', head = 9) => ({
    resumeId,
    environment,
    from,
    head,
  });
  const asked = (...resumes: readonly ReturnType<typeof resume>[]): GivenEndpoint =>
    resumes.reduce((before, one) => before.when(change({ resume: one })).decided, endpoint(registered()));
  const over = (resumeId: string) => ({ kind: 'end-resume', endpointId: ENDPOINT, resumeId }) as const;
  const resumed = (resumeId: string, environment: Environment = 'test', through = 9): EndpointEvent => ({
    type: 'WebhookResumed',
    data: { endpointId: ENDPOINT, resumeId, environment, through },
  });
  const requested = (one: ReturnType<typeof resume>): EndpointEvent => ({
    type: 'WebhookResumeRequested',
    data: { endpointId: ENDPOINT, ...one },
  });

  it('may be asked for in every state, and a disabled endpoint becomes active first', () => {
    const one = resume('a', 3);
    for (const healthy of [endpoint(registered()), failing()])
      healthy.when(change({ resume: one })).then(requested(one));
    const again = disabled()
      .when(change({ resume: one }))
      .then({ type: 'WebhookEndpointReactivated', data: { endpointId: ENDPOINT } }, requested(one));
    expect(current(again)).toMatchObject({ status: 'active', resumes: [one] });
  });

  it('is one for each environment, and a newer one replaces an earlier one', () => {
    const both = asked(resume('a', 3), resume('b', 7, 'live'), resume('c', 5));
    expect(current(both).resumes).toEqual([resume('b', 7, 'live'), resume('c', 5)]);
    both.when(over('a')).then();
    const ended = both.when(over('c')).then(resumed('c'));
    expect(current(ended).resumes).toEqual([resume('b', 7, 'live')]);
  });

  it('ends before its endpoint is disabled or deleted, so that its held-back events are not forgotten', () => {
    const both = asked(resume('a', 3), resume('b', 7, 'live', 12));
    const disable = both
      .when(exhausted('a', 1))
      .decided.when(exhausted('b', 2))
      .decided.when(exhausted('c', 3))
      .decided.when({ kind: 'disable-overdue', now: at(3 + 1 + 259_200) })
      .then(resumed('a'), resumed('b', 'live', 12), {
        type: 'WebhookEndpointDisabled',
        data: { endpointId: ENDPOINT, reason: 'NO_SUCCESSFUL_DELIVERY' },
      });
    expect(current(disable)).toMatchObject({ status: 'disabled', resumes: [] });
    disable.when(over('a')).then();
    both.when({ kind: 'delete', endpointId: ENDPOINT }).then(resumed('a'), resumed('b', 'live', 12), {
      type: 'WebhookEndpointDeleted',
      data: { endpointId: ENDPOINT },
    });
  });

  describe('that works on a feed', () => {
    const place = (sequence: number, environment: Environment = 'test'): RecordedEvent => ({
      id: 'id',
      stream: `feed-account-${environment}`,
      revision: sequence - 1,
      position: positionAt(sequence),
      type: 'EventPublished',
      data: {},
      metadata: { environment } as EventMetadata,
    });

    it('holds back the events of its environment after the head of its request, until it is over', () => {
      const working = asked(resume('a', 3));
      const held = (given: GivenEndpoint): boolean[] =>
        [place(2), place(9), place(10), place(99), place(99, 'live')].map((event) => isHeldBack(current(given), event));
      expect(held(working)).toEqual([false, false, true, true, false]);
      expect(held(working.when(over('a')).decided)).toEqual([false, false, false, false, false]);
    });

    it('is due until it is over', () => {
      const recordOf = (...events: EndpointEvent[]) =>
        events.reduce(
          (before, { type, data }, index) =>
            endpointRecord.evolve(before, {
              ...place(index + 1),
              type,
              data,
              metadata: { occurredAt: iso(index) } as EventMetadata,
            } as RecordedEvent & EndpointEvent),
          endpointRecord.initial,
        );
      const events = [registered(), requested(resume('a', 3))];
      expect([resumeDueAt(recordOf(...events)), resumeDueAt(recordOf(...events, resumed('a')))]).toEqual([
        iso(1),
        null,
      ]);
    });

    it('delivers nothing when its request has no head, as the first requests had none', () => {
      const { head: _, ...data } = resume('a', 3);
      const state = fold(webhookEndpoint, [
        registered(),
        { type: 'WebhookResumeRequested', data: { endpointId: ENDPOINT, ...data } },
      ]);
      expect(state.current?.resumes).toEqual([resume('a', 3, 'test', 2)]);
    });
  });
});
