// Replays the recorded exchanges of a vendor through its adapter. The adapter must send the recorded requests and give the expected verdicts.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { within } from '../../kernel/with-timeout.js';
import type { Vendor } from '../define-vendor.js';
import type { CertifiedDouble } from '../double/certified-double.js';
import type { Canaries } from '../canaries.js';
import { UNDISTURBED_MS } from './laboratory.js';
import { type Operation, fits, newCall } from './operations.js';
import { bodyOf as textOf, routeOf } from './proxy.js';
import { type RecordedExchange, type Recording, Scrubber } from './recording.js';

export interface Replayed {
  readonly vendor: Vendor;
  readonly double: CertifiedDouble;
  /** The settings of the recording, for a server at this address. */
  readonly settings: (url: string) => Readonly<Record<string, string | null>>;
  readonly canaries: Canaries;
}

export async function replayProblems(
  { vendor, double, settings, canaries }: Replayed,
  operation: Operation,
  recording: Recording,
): Promise<readonly string[]> {
  const recorded = new RecordedVendor(double, recording, new Scrubber(canaries, vendor.personal ?? []));
  const adapters = await vendor.open(settings(await recorded.listen()) as never, UNDISTURBED_MS);
  try {
    const told = operation.prepare(adapters).then((act) => act(adapters, newCall()));
    const verdict = await within(2 * UNDISTURBED_MS, told, () => null);
    return [
      ...recorded.problems,
      ...recorded.left().map(({ method, url }) => `${method} ${url} is not sent`),
      ...(fits(operation.expected, verdict) ? [] : [`the verdict is ${verdict?.kind ?? 'missing'}`]),
    ];
  } finally {
    await recorded.close();
    await adapters.close().catch(() => undefined);
  }
}

/** Answers each request with the next exchange of its role. */
class RecordedVendor {
  readonly problems: string[] = [];
  private readonly played = new Set<RecordedExchange>();
  private readonly server = createServer((request, response) => void this.answer(request, response));

  constructor(
    private readonly double: CertifiedDouble,
    private readonly recording: Recording,
    private readonly scrubber: Scrubber,
  ) {}

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  left(): readonly RecordedExchange[] {
    return this.recording.exchanges.filter((exchange) => !this.played.has(exchange));
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const body = await textOf(request);
    const { role, ids } = routeOf(this.double, { method, url, body });
    const sent = this.scrubber.request({
      role,
      ids,
      method,
      url,
      headers,
      body,
      forwarded: false,
      harmed: false,
      answer: null,
    });
    const next = this.left().find((exchange) => exchange.role === role && exchange.method === method);
    if (next === undefined) {
      this.problems.push(`${method} ${sent.url} is not in the recording`);
      response.writeHead(404).end();
      return;
    }
    this.played.add(next);
    if (next.url !== sent.url) this.problems.push(`${method} ${sent.url} is sent, and not ${next.url}`);
    const differing = placesThatDiffer(sent.request, next.request);
    if (differing.length > 0) this.problems.push(`${method} ${sent.url} has another ${differing.join(', ')}`);
    const { status, headers: told, body: content } = next.answer;
    const named = Object.entries(told).map(([name, value]) => [name, this.scrubber.real(value)] as const);
    const isJson = content !== '' && told['content-type']?.includes('json');
    const text = isJson ? JSON.stringify(content) : String(content);
    response.writeHead(status, Object.fromEntries(named)).end(this.scrubber.real(text));
  }
}

/** The names of the values that differ. The values themselves may be personal. */
function placesThatDiffer(one: unknown, other: unknown, place = ''): readonly string[] {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other) ? [] : [place || 'body'];
  const [mine, theirs] = [one, other] as Record<string, unknown>[];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].flatMap((name) => placesThatDiffer(mine?.[name], theirs?.[name], `${place}/${name}`));
}
