// The faults that a test can plan in the double, one for each call.
import { Metadata, type StatusObject, status } from '@grpc/grpc-js';

export type Method = 'append' | 'batch-append' | 'read' | 'subscribe' | 'gossip' | 'server-features';

export type Fault =
  /** Never answers. With `stored`, the double carries out the request first. */
  | { readonly kind: 'swallow'; readonly stored: boolean }
  /** Answers with an error status. With `stored`, the double carries out the request first. */
  | { readonly kind: 'error'; readonly status: StatusObject; readonly stored: boolean }
  /** Ends a read or a subscription without content, as if it were complete. */
  | { readonly kind: 'end' }
  /** Carries out the request, and answers when the test allows it. */
  | { readonly kind: 'delay'; readonly until: Promise<void> }
  /** Sends the caller to another node. */
  | { readonly kind: 'not-leader'; readonly host: string; readonly port: number }
  /** A success without a position, which the server may give for a repeated append. */
  | { readonly kind: 'no-position' };

export function answer(code: status, details: string, trailers: Readonly<Record<string, string>> = {}): StatusObject {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.add(name, value);
  return { code, details, metadata };
}

export const NOT_READY = answer(status.UNAVAILABLE, 'Server Is Not Ready');
export const TOO_BUSY = answer(status.UNAVAILABLE, 'Server Is Too Busy');
export const TIMED_OUT = answer(status.ABORTED, 'Operation timed out: Commit phase timeout.');
/** A status that the client does not know, so that the client throws its UnknownError. */
export const UNKNOWN = answer(status.UNKNOWN, 'Unexpected OperationResult');
export const ACCESS_DENIED = answer(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });

export function notLeader(host: string, port: number): StatusObject {
  return answer(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
}

/** The planned faults in order, for each method. Each is used once. */
export class Faults {
  readonly #planned = new Map<Method, Fault[]>();

  plan(method: Method, ...faults: readonly Fault[]): void {
    this.#planned.set(method, [...(this.#planned.get(method) ?? []), ...faults]);
  }

  next(method: Method): Fault | undefined {
    return this.#planned.get(method)?.shift();
  }

  /** The number of planned faults that have not happened yet. */
  left(method: Method): number {
    return this.#planned.get(method)?.length ?? 0;
  }
}
