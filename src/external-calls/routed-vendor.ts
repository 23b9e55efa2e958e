import { Logger } from '@nestjs/common';
import { machineNow } from '../kernel/machine-time.js';
import type { AnsweredCall } from '../kernel/answered-call.js';
import type { VendorBehaviour } from '../kernel/vendor-behaviour.js';
import type { Replied } from '../kernel/vendor-reply.js';
import { within } from '../kernel/with-timeout.js';
import type { VendorCall } from '../ports/vendor-call.js';
import { vendorId, vendorName } from './call-queues.js';
import type { VendorKind } from './external-call.js';
import { isRefused, type Leave, type VendorGuard } from './vendor-guard.js';

/** Receives every call: its vendor, its operation, the kind of its verdict, its duration, how its exchanges ended, and its ids. */
export interface MadeCall {
  readonly vendor: string;
  readonly operation: string;
  readonly outcome: string;
  readonly seconds: number;
  readonly ends: readonly string[];
  readonly call: Partial<VendorCall> & Pick<VendorCall, 'environment'>;
}

interface Verdict extends Replied {
  readonly kind: string;
  readonly retryAfterSeconds?: number;
  /** The vendor's number, if the verdict has no reply. */
  readonly upstreamCode?: number | null;
  readonly vendorTransactionId?: string;
  readonly billed?: boolean;
}

type Operation = (call: VendorCall, ...input: unknown[]) => Promise<Verdict>;

interface Made extends Pick<MadeCall, 'ends'> {
  readonly verdict: Verdict;
}

const logger = new Logger('RoutedVendor');

/**
 * A port that sends each call to the vendor that the call names, in the call's environment. Test traffic never reaches a real vendor, and live
 * traffic never reaches a sandbox. A vendor that is not configured is `unavailable`. `observe` measures and logs every call. A call whose signal is
 * aborted is `timed-out`, and a call whose adapter threw an error is `unintelligible`. The log has only the name of the error.
 */
export function routedVendor<Port extends object>(
  kind: VendorKind,
  adapters: {
    readonly operations: readonly string[];
    of(call: VendorCall): Port | null;
    /** The behaviour that the call's test account has set. */
    behaviour?(accountId: string): Promise<VendorBehaviour | null>;
    readonly guard?: Pick<VendorGuard, 'enter'>;
  },
  observe: (made: MadeCall) => void,
): Port {
  /** The behaviour that a tester has ordered. */
  const orderedFor = ({ environment, accountId }: VendorCall): Promise<VendorBehaviour | null> | null =>
    environment === 'test' && accountId ? (adapters.behaviour?.(accountId) ?? null) : null;
  const operations = adapters.operations.map((operation) => {
    /** The verdict has the pause that the vendor demanded, even if the adapter does not pass it on. `ends`: how the exchanges of the call ended. */
    const make = async (adapted: Operation, call: VendorCall, input: readonly unknown[]): Promise<Made> => {
      const vendor = vendorName(kind, call.vendor);
      const ends: string[] = [];
      let demanded: number | undefined;
      const onEnd: VendorCall['onEnd'] = (end, retryAfterSeconds) => {
        ends.push(end);
        demanded = retryAfterSeconds;
        call.onEnd?.(end, retryAfterSeconds);
      };
      const startedAt = performance.now();
      const asked = (async () => adapted({ ...call, onEnd }, ...input))().catch((error: unknown): Verdict => {
        const name = error instanceof Error ? error.name : typeof error;
        logger.error(`The adapter of ${vendor} threw (${operation}, attempt ${call.attemptId}): ${name}`);
        return { kind: 'unintelligible' };
      });
      const verdict = await (call.signal ? within(call.signal, asked, (): Verdict => ({ kind: 'timed-out' })) : asked);
      const seconds = (performance.now() - startedAt) / 1_000;
      observe({ vendor, operation, outcome: verdict.kind, seconds, ends, call });
      call.onAnswer?.({
        vendor: vendorId(kind, call.vendor),
        operation,
        ...factsOf(verdict, ends),
        latencyMs: Math.round(seconds * 1_000),
      });
      if (demanded === undefined || verdict.kind !== 'unavailable') return { verdict, ends };
      return { verdict: { retryAfterSeconds: demanded, ...verdict }, ends };
    };
    const ask = async (call: VendorCall, ...input: unknown[]): Promise<Verdict> => {
      const vendor = vendorName(kind, call.vendor);
      const notCalled = (why: string, verdict: Verdict): Verdict => {
        logger.warn(`${vendor} was not called (${operation}, attempt ${call.attemptId}): ${why}`);
        return verdict;
      };
      const adapter = adapters.of(call) as Record<string, Operation> | null;
      if (adapter === null) return notCalled('it is not set up', { kind: 'unavailable' });
      // Before the input is used up: while the log is away, the call is not made.
      const ordered = orderedFor(call);
      const behaviour = ordered && (await ordered);
      // Failures that a tester has ordered say nothing about the vendor.
      const guard = behaviour ? undefined : adapters.guard;
      const entered = guard && (await guard.enter(vendor, vendorId(kind, call.vendor), call));
      if (isRefused(entered)) {
        call.onEnd?.(entered.why, entered.retryAfterSeconds);
        return notCalled(entered.why, { kind: 'unavailable', retryAfterSeconds: entered.retryAfterSeconds });
      }
      const leave: Leave = entered ?? (async () => undefined);
      const obstacle = await obstacleTo(call);
      if (obstacle !== null) {
        await leave(null);
        return notCalled(obstacle, { kind: 'timed-out' });
      }
      const adapted = (adapter[operation] as Operation).bind(adapter);
      const { verdict, ends } = await make(adapted, behaviour ? { ...call, behaviour } : call, input);
      await leave(verdict.kind, pauseFor(call, ends) ? verdict.retryAfterSeconds : undefined);
      return verdict;
    };
    return [operation, ask];
  });
  return Object.fromEntries(operations) as Port;
}

function factsOf(
  { kind: outcome, reply, upstreamCode, vendorTransactionId: transactionId, billed }: Verdict,
  ends: readonly string[],
): Omit<AnsweredCall, 'vendor' | 'operation' | 'latencyMs'> {
  const [end, code] = [ends.at(-1), reply?.code ?? upstreamCode ?? undefined];
  return {
    outcome,
    ...(end !== undefined && { end }),
    ...(code !== undefined && { code }),
    ...(transactionId !== undefined && { transactionId }),
    ...(billed !== undefined && { billed }),
  };
}

/** Whether a pause that the vendor demands counts. A tester may end an outage of a sandbox early, but a limit of calls has no such end. */
function pauseFor({ environment }: VendorCall, ends: readonly string[]): boolean {
  return environment === 'live' || ends.at(-1)?.endsWith('429') === true;
}

/** A call without time left is not begun, because its attempt will be settled or its process will end soon. */
async function obstacleTo({ signal, endsAt = Infinity, mayAsk }: VendorCall): Promise<string | null> {
  const isLate = (): boolean => signal?.aborted || machineNow() >= endsAt;
  const isOthers = !isLate() && mayAsk !== undefined && !(await mayAsk());
  if (isLate()) return 'no time was left';
  return isOthers ? 'another process has its input' : null;
}
