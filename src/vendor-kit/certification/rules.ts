// The rules for an adapter's behaviour after a fault. Each function returns the broken rules in words, without personal data.
import type { Role } from '../double/certified-double.js';
import { RETRY_AFTER_SECONDS } from './faults.js';
import { type Observation, rolesIn } from './laboratory.js';
import { type Operation, fits, grants } from './operations.js';
import type { Fault, SeenRequest } from './proxy.js';

export interface Trial {
  readonly operation: Operation;
  /** The same operation without a fault. */
  readonly clean: Observation;
  readonly role: Role;
  readonly fault: Fault;
  readonly seen: Observation;
}

/** Verdicts that decide nothing. */
export const UNDECIDED: ReadonlySet<string> = new Set([
  'unavailable',
  'timed-out',
  'unintelligible',
  'pending',
  'under-review',
  'in-progress',
  'needs-user',
  'refused-otherwise',
  'not-made',
]);
/** Answers with which a vendor says that it executed nothing. */
const TURNED_AWAY: ReadonlySet<number> = new Set([401, 403, 429, 503]);
/** The most requests of an operation. A processor's key lets an adapter ask more often within the time limit. */
const MOST_SENT = 2;
const MOST_SENT_TO_PROCESSOR = 4;
/** The most requests that a fault may add to the requests of an undisturbed operation. */
const MOST_REPEATS = 8;

export function mainRoleOf(clean: Observation): Role | null {
  const roles = rolesIn(clean);
  // A processor may be asked before it is told to change something.
  return roles.find((role) => role === 'processor') ?? roles.find((role) => role !== 'token') ?? null;
}

/** The last request of an undisturbed operation decides it. */
function decidingRoleOf({ requests }: Observation): Role | null {
  return requests.at(-1)?.role ?? null;
}

export function brokenVerdictRules(trial: Trial): readonly string[] {
  const { verdict, thrown } = trial.seen;
  if (thrown !== null) return ['the adapter throws'];
  if (verdict === null) return ['the adapter gives no verdict within its time limit'];
  if (!UNDECIDED.has(verdict.kind)) {
    if (!fits(trial.operation.expected, verdict))
      return [`the verdict is ${verdict.kind}, which the vendor did not say`];
    return isLearnt(trial) ? [] : [`the verdict is ${verdict.kind}, but the vendor did not say so${askedIn(trial)}`];
  }
  return [
    ...executedAfterAll(trial, verdict.kind),
    ...(trial.fault.once && !fits(trial.operation.expected, verdict) && needsNewToken(trial)
      ? ['the token is not renewed after a 401']
      : []),
  ];
}

/** The verdict states that nothing was executed. */
function executedAfterAll(trial: Trial, kind: string): readonly string[] {
  if (kind === 'unavailable' && mayHaveExecuted(trial))
    return ['the verdict is unavailable, which means "not executed", but the vendor may have executed the request'];
  return kind === 'not-made' && mainRequestsOf(trial).some(({ forwarded }) => forwarded)
    ? ['the verdict is not-made, but the vendor has executed the request']
    : [];
}

/** The requests of a trial, as the author of the adapter must find them. */
function askedIn({ seen: { requests } }: Trial): string {
  const told = requests.map(({ role, method, url, harmed }) => {
    const [path = ''] = url.split('?');
    return `${method} ${path} (${role ?? 'no role'}${harmed ? ', met by the fault' : ''})`;
  });
  return ` in an answer to ${told.join(', ') || 'any request'}`;
}

/** Whether the adapter got an answer from which it can know the verdict. */
function isLearnt({ clean, fault, seen: { requests, verdict } }: Trial): boolean {
  const decisive = decidingRoleOf(clean);
  // The answer to an expiry has no content, so every complete answer is one.
  if (verdict?.kind === 'expired' && requests.at(-1)?.answer?.status === 200) return true;
  return unharmedIn(requests, fault).some(({ role }) => role === 'outcome' || role === 'verdict' || role === decisive);
}

function unharmedIn(requests: readonly SeenRequest[], fault: Fault): readonly SeenRequest[] {
  return requests.filter(({ harmed, forwarded }) => forwarded && (fault.whole === true || !harmed));
}

/** Whether the vendor may have executed the request, and the adapter cannot know better. */
function mayHaveExecuted({ operation, clean, fault, seen: { requests } }: Trial): boolean {
  if (operation.semantics !== 'at-most-once') return false;
  if (unharmedIn(requests, fault).some(({ role }) => role === 'outcome')) return false;
  const main = mainRequestsOf({ clean, seen: { requests } });
  return main.some(({ forwarded, answer }) => forwarded || !TURNED_AWAY.has(answer?.status ?? 0));
}

function mainRequestsOf({ clean, seen }: { clean: Observation; seen: Pick<Observation, 'requests'> }) {
  return seen.requests.filter(({ role }) => role === mainRoleOf(clean));
}

/** A vendor with access tokens renews its token once, because a 401 means that nothing was executed. */
function needsNewToken({ role, seen: { requests } }: Trial): boolean {
  const met = requests.some((request) => request.harmed && request.role === role && role !== 'token');
  return met && requests.some((request) => request.role === 'token');
}

export function brokenCountRules(trial: Trial): readonly string[] {
  const { role, fault, seen } = trial;
  const met = seen.requests.filter((request) => request.role === role && request.harmed);
  const demanded = fault.name.includes('Retry-After') && met.length > 0;
  return [
    ...executionRules(trial),
    ...stormRules(trial),
    ...(demanded && met.length > 1 ? ['the adapter does not wait for the time in Retry-After'] : []),
    ...(demanded && !isPauseTold(seen) ? ['the adapter does not tell the time in Retry-After'] : []),
    ...(seen.requests.some((request) => request.role === null) ? ['a request has no declared role'] : []),
    ...(met.some(({ oversized }) => oversized) ? ['the adapter reads an endless answer'] : []),
  ];
}

/** The rules for requests that the vendor may execute, whatever their keys. */
function executionRules(trial: Trial): readonly string[] {
  const { semantics, capability } = trial.operation;
  if (semantics === 'query') return [];
  const main = mainRequestsOf(trial);
  const most = capability === 'payment' ? MOST_SENT_TO_PROCESSOR : MOST_SENT;
  const executing = main.filter(({ answer, forwarded }) => forwarded || answer?.status !== 401);
  return [
    ...(semantics === 'at-most-once' && executing.length > 1
      ? [`${executing.length} requests that the vendor may execute were sent, under one key or several`]
      : []),
    ...(semantics === 'idempotent' && new Set(executing.map(identity)).size > 1
      ? ['a repeated request differs from the first request']
      : []),
    ...(main.length > most ? [`${main.length} requests were sent`] : []),
  ];
}

function stormRules({ clean, seen }: Trial): readonly string[] {
  const count = (all: readonly SeenRequest[], wanted: Role): number => all.filter(({ role }) => role === wanted).length;
  return rolesIn(seen)
    .filter((role) => count(seen.requests, role) > count(clean.requests, role) + MOST_REPEATS)
    .map((role) => `${count(seen.requests, role)} requests of the role ${role} were sent`);
}

function isPauseTold({ verdict, ends }: Observation): boolean {
  return (
    verdict?.retryAfterSeconds === RETRY_AFTER_SECONDS || ends.some(([, seconds]) => seconds === RETRY_AFTER_SECONDS)
  );
}

/** Everything in a request except its credential. */
function identity({ method, url, headers, body }: SeenRequest): string {
  return JSON.stringify([method, url, { ...headers, authorization: '', connection: '' }, body]);
}

/** After a changed answer, the adapter must not grant more than before. */
export function brokenMutationRules(seen: Observation, mayGrant: boolean): readonly string[] {
  if (seen.thrown !== null) return ['the adapter throws'];
  if (seen.verdict === null) return ['the adapter gives no verdict within its time limit'];
  return !mayGrant && grants(seen.verdict) ? [`the verdict becomes ${seen.verdict.kind}`] : [];
}
