// Records the exchanges of each operation as fixtures, without personal data and credentials.
import type { Vendor } from '../define-vendor.js';
import type { CertifiedDouble, CertifiedPersona, Role } from '../double/certified-double.js';
import { type Canaries, findingsOf } from '../canaries.js';
import { Laboratory, UNDISTURBED_MS } from './laboratory.js';
import { type Operation, fits, newCall } from './operations.js';
import { bodyOf, changed, withoutPersonal } from './personal.js';
import { canariesOf } from './protected-values.js';
import type { SeenRequest } from './proxy.js';
import { operationsOf } from './vendor-operations.js';

export interface RecordedExchange {
  readonly role: Role;
  readonly method: string;
  readonly url: string;
  readonly request: unknown;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
}

/** The exchanges of an operation and of the calls before it, in their order. */
export interface Recording {
  readonly operation: string;
  readonly exchanges: readonly RecordedExchange[];
}

const KEPT_HEADERS: readonly string[] = ['content-type', 'location', 'retry-after'];
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The recordings by the names of their files. Throws if an operation has not its expected verdict, or if a canary is left in a recording. */
export async function recordingsOf(
  vendor: Vendor,
  double: CertifiedDouble,
  personas: readonly CertifiedPersona[],
): Promise<ReadonlyMap<string, Recording>> {
  const laboratory = await Laboratory.open(vendor, double);
  try {
    const recordings = new Map<string, Recording>();
    for (const operation of recorded(operationsOf(vendor, double, personas, laboratory.running.pay))) {
      const requests = await laboratory.withAdapters(UNDISTURBED_MS, async (adapters, proxy) => {
        const act = await operation.prepare(adapters);
        if (!fits(operation.expected, await act(adapters, newCall())))
          throw new Error(`${operation.name} has another verdict`);
        return [...proxy.requests];
      });
      const canaries = [...canariesOf(laboratory, personas, requests)];
      const scrubber = new Scrubber(canaries, vendor.personal ?? []);
      const recording = { operation: operation.name, exchanges: requests.map((request) => scrubber.exchange(request)) };
      const left = findingsOf(canaries, `the recording of ${operation.name}`, Buffer.from(JSON.stringify(recording)));
      if (left.length > 0) throw new Error(`Nothing is recorded: ${left.join(', ')}`);
      recordings.set(operation.name.toLowerCase().replace(/[^a-z0-9]+/g, '-'), recording);
    }
    return recordings;
  } finally {
    await laboratory.close();
  }
}

/** The first persona of each verdict is recorded. */
export function recorded(operations: readonly Operation[]): readonly Operation[] {
  return [...new Map([...operations].reverse().map((one) => [one.name, one])).values()].reverse();
}

/** Takes personal data and credentials out of one recording. Each id that the service made gets the name of its place, such as `<id 1>`. */
export class Scrubber {
  private readonly ids: string[] = [];

  constructor(
    private readonly canaries: Canaries,
    private readonly personal: readonly string[],
  ) {}

  exchange(seen: SeenRequest): RecordedExchange {
    const { role, answer } = seen;
    if (role === null || answer === null) throw new Error('a request has no declared role, or no answer');
    const { status, headers, body } = answer;
    const request = this.request(seen);
    const kept = Object.entries(headers).filter(([name]) => KEPT_HEADERS.includes(name));
    const scrubbed = this.body(body, headers['content-type'] ?? '');
    const named = kept.map(([name, value]) => [name, this.named(this.withoutCanaries(value))] as const);
    return {
      role,
      ...request,
      answer: {
        status,
        headers: Object.fromEntries(named),
        body: changed(scrubbed, '', (_, text) => this.named(text)),
      },
    };
  }

  request({ method, url, headers, body }: SeenRequest): Pick<RecordedExchange, 'method' | 'url' | 'request'> {
    for (const text of [url, ...Object.values(headers), body])
      for (const [id] of text.matchAll(ID)) if (!this.ids.includes(id)) this.ids.push(id);
    const scrubbed = this.body(body, headers['content-type'] ?? '');
    return {
      method,
      url: this.named(this.withoutCanaries(url)),
      request: changed(scrubbed, '', (_, text) => this.named(text)),
    };
  }

  /** The text of a recording with the ids of this run. */
  real(text: string): string {
    return text.replaceAll(/<id (\d+)>/g, (name: string, number) => this.ids[Number(number) - 1] ?? name);
  }

  private named(text: string): string {
    return this.ids.reduce((named, id, at) => named.replaceAll(id, `<id ${at + 1}>`), text);
  }

  private body(text: string, type: string): unknown {
    const body = withoutPersonal(bodyOf(text, type), this.personal);
    return changed(body, '', (_, value) => this.withoutCanaries(value));
  }

  private withoutCanaries(text: string): string {
    return [...this.canaries].reduce(
      (scrubbed, [name, canary]) => scrubbed.replaceAll(canary, `<${name.replaceAll(' ', '-')}>`),
      text,
    );
  }
}
