// The operations that (k) compares. The service and the anchor have the same routes.
import { randomUUID } from 'node:crypto';
import { newId } from '../../src/kernel/ids.js';
import { RIGHT_OTP_CODE } from '../../src/vendors/idv/double/step-up.js';
import { aPerson, type Person } from '../support/service.js';
import { call, type Caller } from './caller.js';
import { type Operation, timed } from './comparison.js';
import { throughput } from './measure.js';
import type { StepUps, Submitted } from './step-ups.js';
import type { BenchReceiver } from './webhook-receiver.js';

const PREPARED_AT_ONCE = 64;

/** Screens a new person, and returns the session's id. */
export async function submitted(caller: Caller, person: Person = {}, expected = 'VERIFIED'): Promise<string> {
  const { id, status } = await call(caller, 'POST', '/screening/submit', aPerson(person));
  if (status !== expected) throw new Error(`A submission ended as ${status}`);
  return id as string;
}

export function submission(caller: Caller): Operation {
  return timed(async () => void (await submitted(caller)));
}

/** Sends the right code of another session in each operation. */
export function otpAnswer(caller: Caller): Operation {
  return onNewSessions(
    () => submitted(caller, { lastName: 'Otptest' }, 'STEP_UP_REQUIRED'),
    async (id) => {
      const { status } = await call(caller, 'POST', `/screening/${id}/otp`, { code: RIGHT_OTP_CODE });
      if (status !== 'VERIFIED') throw new Error(`The right code was answered with ${status}`);
    },
  );
}

/** Reads a report for the first time. The service asks the bureau, and the account pays. */
export function reportPull(caller: Caller): Operation {
  return onNewSessions(
    () => submitted(caller),
    async (id) => void (await call(caller, 'GET', `/reports/${id}`)),
  );
}

function onNewSessions(submit: () => Promise<string>, act: (id: string) => Promise<void>): Operation {
  const sessions: string[] = [];
  return {
    ...timed(() => act(sessions.pop() ?? '')),
    prepare: (count) =>
      throughput(count, PREPARED_AT_ONCE, async () => {
        sessions.push(await submit());
      }),
  };
}

/** Registers a party of the direct API. */
export function registration(caller: Caller): Operation {
  return timed(async () => {
    const { dateOfBirth: dob, ...person } = aPerson();
    await call(caller, 'POST', `/api/idv/renters/${randomUUID()}`, { ...person, dob });
  });
}

export function reading(caller: Caller, path: string): Operation {
  return timed(async () => void (await call(caller, 'GET', path)));
}

/** Measures from the stored event to its receipt. The session already exists, so each request stores one event. */
export function storedDelivery(receiver: BenchReceiver, stepUps: StepUps, accountIds: readonly string[]): Operation {
  const sessions: Submitted[] = [];
  let made = 0;
  return {
    prepare: (count) =>
      throughput(count, PREPARED_AT_ONCE, async () => {
        sessions.push(await stepUps.submit(accountIds[made++ % accountIds.length] ?? ''));
      }),
    run: async () => {
      const session = sessions.pop();
      if (session === undefined) throw new Error('No session is left');
      const arrived = receiver.arrival(session.sessionId);
      await stepUps.require(session);
      return timeUntil(arrived);
    },
  };
}

/** Measures from the request for a delivery to its receipt. */
export function deliveryBy(receiver: BenchReceiver, deliver: (sessionId: string) => void): Operation {
  return {
    run: async () => {
      const sessionId = newId();
      const arrived = receiver.arrival(sessionId);
      deliver(sessionId);
      return timeUntil(arrived);
    },
  };
}

async function timeUntil(settled: Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await settled;
  return performance.now() - startedAt;
}
