// Runs single operations of an adapter against its double, each with a proxy and an adapter of its own, and observes them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fastify } from 'fastify';
import { within } from '../../kernel/with-timeout.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { OpenVendor, Vendor } from '../define-vendor.js';
import type { CertifiedDouble, Role, RunningDouble } from '../double/certified-double.js';
import { type Act, NotPrepared, type Operation, type Verdict, newCall } from './operations.js';
import { type Fault, FaultProxy, type SeenRequest } from './proxy.js';

/** Long enough for an undisturbed operation on a busy machine. */
export const UNDISTURBED_MS = 6_000;
const GRACE_MS = 3_000;

export interface Observation {
  readonly call: VendorCall;
  readonly verdict: Verdict | null;
  /** The words of the error that the adapter threw. */
  readonly thrown: string | null;
  readonly requests: readonly SeenRequest[];
  /** The ends of exchanges that the adapter told, and the pauses that the vendor demanded. */
  readonly ends: readonly (readonly [end: string, retryAfterSeconds: number | undefined])[];
}

export interface Circumstances {
  readonly faults?: FaultProxy['faults'];
  /** The time limit of the adapter. */
  readonly limitMs?: number;
  /** Runs after the operation, with the same adapter. */
  readonly then?: (adapters: OpenVendor, proxy: FaultProxy) => Promise<void>;
  /** Ends the observation before the adapter does. */
  readonly until?: Promise<void>;
}

export class Laboratory {
  readonly settings: Readonly<Record<string, string | null>>;
  /** Makes the calls before the observed call. They meet no fault, so all operations share it, its connections and its access token. */
  private earlier: Promise<OpenVendor> | null = null;

  private constructor(
    readonly vendor: Vendor,
    readonly double: CertifiedDouble,
    readonly running: RunningDouble,
    /** The address of the double, without a proxy. */
    readonly url: string,
    private readonly closeDouble: () => Promise<void>,
  ) {
    this.settings = running.settings(url);
  }

  static async open(vendor: Vendor, double: CertifiedDouble): Promise<Laboratory> {
    const folder = mkdtempSync(join(tmpdir(), `certification-${vendor.id}-`));
    const running = double.start(folder);
    const server = fastify({ logger: false, forceCloseConnections: true, routerOptions: { maxParamLength: 1_024 } });
    running.part.mount(server);
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    return new Laboratory(vendor, double, running, url, async () => {
      await server.close();
      running.part.close();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  async close(): Promise<void> {
    const earlier = await this.earlier?.catch(() => null);
    await within(GRACE_MS, earlier?.close() ?? Promise.resolve(), () => undefined).catch(() => undefined);
    await this.closeDouble();
  }

  /** Prepares the operation without faults, and observes it in the given circumstances. */
  async observe(operation: Operation, circumstances?: Circumstances): Promise<Observation> {
    return this.watch(await this.prepared(operation), circumstances);
  }

  /** Observes a prepared operation, as a call of its own unless `as` is given. */
  watch(
    act: Act,
    { faults = {}, limitMs = UNDISTURBED_MS, then, until }: Circumstances = {},
    as: VendorCall = newCall(),
  ): Promise<Observation> {
    return this.withAdapters(limitMs, async (adapters, proxy): Promise<Observation> => {
      proxy.faults = faults;
      const ends: [string, number | undefined][] = [];
      const call = { ...as, onEnd: (end: string, seconds?: number) => void ends.push([end, seconds]) };
      const told = act(adapters, call).then(
        (verdict) => ({ verdict, thrown: null }),
        (error: unknown) => ({ verdict: null, thrown: wordsOf(error) }),
      );
      const late = (): Pick<Observation, 'verdict' | 'thrown'> => ({ verdict: null, thrown: null });
      const ended = until === undefined ? told : Promise.race([told, until.then(late)]);
      const ending = await within(limitMs + GRACE_MS, ended, late);
      const requests = [...proxy.requests];
      if (ending.verdict !== null && then) await within(UNDISTURBED_MS, then(adapters, proxy), () => undefined);
      return { call, ...ending, requests, ends };
    });
  }

  async prepared(operation: Operation): Promise<Act> {
    this.earlier ??= this.vendor.open(this.settings as never, UNDISTURBED_MS);
    return within(UNDISTURBED_MS + GRACE_MS, operation.prepare(await this.earlier), () => {
      throw new NotPrepared('the earlier calls give no verdict within the time limit');
    });
  }

  async withAdapters<Value>(
    limitMs: number,
    work: (adapters: OpenVendor, proxy: FaultProxy) => Promise<Value>,
  ): Promise<Value> {
    const proxy = new FaultProxy(this.double, this.url, limitMs);
    const adapters = await this.vendor.open(this.running.settings(await proxy.listen()) as never, limitMs);
    try {
      return await work(adapters, proxy);
    } finally {
      // An adapter without a time limit ends with its connections.
      await proxy.close();
      await within(GRACE_MS, adapters.close(), () => undefined).catch(() => undefined);
    }
  }
}

/** The roles of an observation's requests, each once, in their order. */
export function rolesIn({ requests }: Observation): readonly Role[] {
  return [...new Set(requests.flatMap(({ role }) => (role === null ? [] : [role])))];
}

export function always(role: Role, fault: Fault): FaultProxy['faults'] {
  return { [role]: fault };
}

function wordsOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? ` ${wordsOf(error.cause)}` : '';
  return `${error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error)}${cause}`;
}
