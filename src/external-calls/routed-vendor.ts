import { Logger } from '@nestjs/common';
import { machineNow } from '../kernel/machine-time.js';
import type { VendorBehaviour } from '../kernel/vendor-behaviour.js';
import { within } from '../kernel/with-timeout.js';
import type { VendorCall } from '../ports/vendor-call.js';
import { vendorName } from './call-queues.js';
import type { VendorKind } from './external-call.js';

/** Receives every call: its vendor, its operation, the kind of its verdict, its duration, how its exchanges ended, and its ids. */
export interface MadeCall {
  readonly vendor: string;
  readonly operation: string;
  readonly outcome: string;
  readonly seconds: number;
  readonly ends: readonly string[];
  readonly call: Partial<VendorCall> & Pick<VendorCall, 'environment'>;
}

type Operation = (call: VendorCall, ...input: unknown[]) => Promise<{ readonly kind: string }>;

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
  },
  observe: (made: MadeCall) => void,
): Port {
  const operations = adapters.operations.map((operation) => {
    const ask = async (call: VendorCall, ...input: unknown[]): Promise<{ readonly kind: string }> => {
      const vendor = vendorName(kind, call.vendor);
      const notCalled = (why: string): void =>
        logger.warn(`${vendor} was not called (${operation}, attempt ${call.attemptId}): ${why}`);
      const adapter = adapters.of(call) as Record<string, Operation> | null;
      if (adapter === null) {
        notCalled('it is not set up');
        return { kind: 'unavailable' };
      }
      // Before the input is used up: while the log is away, the call is not made.
      const behaviour =
        call.environment === 'test' && call.accountId ? await adapters.behaviour?.(call.accountId) : null;
      // A call without time left is not begun, because its attempt will be settled or its process will end soon.
      const isLate = (): boolean => call.signal?.aborted || machineNow() >= (call.endsAt ?? Infinity);
      if (isLate() || (call.mayAsk && !(await call.mayAsk())) || isLate()) {
        notCalled(isLate() ? 'no time was left' : 'another process has its input');
        return { kind: 'timed-out' };
      }
      const ends: string[] = [];
      const onEnd: VendorCall['onEnd'] = (end, retryAfterSeconds) => {
        ends.push(end);
        call.onEnd?.(end, retryAfterSeconds);
      };
      const startedAt = performance.now();
      const asked = (adapter[operation] as Operation)(
        { ...call, onEnd, ...(behaviour && { behaviour }) },
        ...input,
      ).catch((error: unknown) => {
        const name = error instanceof Error ? error.name : typeof error;
        logger.error(`The adapter of ${vendor} threw (${operation}, attempt ${call.attemptId}): ${name}`);
        return { kind: 'unintelligible' };
      });
      const verdict = await (call.signal ? within(call.signal, asked, () => ({ kind: 'timed-out' })) : asked);
      const seconds = (performance.now() - startedAt) / 1_000;
      observe({ vendor, operation, outcome: verdict.kind, seconds, ends, call });
      return verdict;
    };
    return [operation, ask];
  });
  return Object.fromEntries(operations) as Port;
}
