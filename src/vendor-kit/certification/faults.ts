// The faults that a certification applies to every role of every operation.
import type { Answer, Exchange, Fault } from './proxy.js';
import { JSON_TYPE } from './proxy.js';

/** The wait that the proxy demands with 429 and 503. It is longer than every time limit of a certification. */
export const RETRY_AFTER_SECONDS = 120;
/** An adapter that takes this many bytes of one answer has no size limit. */
export const MOST_BYTES = 24 * 1_024 * 1_024;
const DRIP_MS = 20;

const instead = (name: string, status: number, headers: Readonly<Record<string, string>>, body: string): Fault => ({
  name,
  apply: ({ answer }) => answer({ status, headers, body }),
});
const HTML = { 'content-type': 'text/html' } as const;
const BUSY = { ...JSON_TYPE, 'retry-after': String(RETRY_AFTER_SECONDS) };

export const FAULTS: readonly Fault[] = [
  { name: 'reset before the request is executed', apply: ({ socket }) => void socket.resetAndDestroy() },
  {
    name: 'reset after the request is executed',
    async apply({ forward, socket }) {
      await forward();
      socket.resetAndDestroy();
    },
  },
  { name: 'no answer', waits: true, apply: () => undefined },
  {
    name: 'answer byte by byte',
    waits: true,
    async apply({ forward, response }) {
      const { status, headers, body } = await forward();
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) + 1_000_000 });
      response.flushHeaders();
      const drip = setInterval(() => (response.destroyed ? clearInterval(drip) : response.write(' ')), DRIP_MS);
    },
  },
  {
    name: 'late answer',
    waits: true,
    async apply({ forward, answer, limitMs }) {
      const late = await forward();
      setTimeout(() => answer(late), limitMs);
    },
  },
  {
    name: 'half of the answer',
    async apply({ forward, socket, response }) {
      const { status, headers, body } = await forward();
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) + 1 });
      response.write(body.slice(0, Math.ceil(body.length / 2)), () => socket.end());
    },
  },
  { name: 'endless answer', apply: endless },
  instead('a page instead of an answer', 200, HTML, '<!doctype html><title>Log in</title>'),
  instead('an empty answer', 200, JSON_TYPE, ''),
  instead('an answer that is null', 200, JSON_TYPE, 'null'),
  instead('a redirect', 302, { ...HTML, location: '/elsewhere' }, ''),
  instead('401', 401, JSON_TYPE, '{}'),
  { ...instead('401 once', 401, JSON_TYPE, '{}'), once: true },
  instead('429 with Retry-After', 429, BUSY, '{}'),
  instead('503 with Retry-After', 503, BUSY, '{}'),
  instead('500', 500, JSON_TYPE, '{}'),
  instead('502 from a gateway', 502, HTML, '<h1>502</h1>'),
  {
    name: 'the same answer twice',
    whole: true,
    async apply({ forward, answer, socket, response }) {
      const told = await forward();
      response.once('finish', () => socket.write(rawOf(told)));
      answer(told);
    },
  },
];

function rawOf({ status, headers, body }: Answer): string {
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) });
  return `HTTP/1.1 ${status} X\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

async function endless({ seen, forward, response }: Exchange): Promise<void> {
  const { status, headers, body } = await forward();
  // A 204 cannot have a body, so an endless one is another success.
  response.writeHead(status === 204 ? 200 : status, headers);
  response.write(body.trimEnd().slice(0, -1) || ' ');
  const filler = ' '.repeat(65_536);
  let sent = 0;
  const push = (): void => {
    while (!response.destroyed && sent < MOST_BYTES) {
      sent += filler.length;
      if (!response.write(filler)) {
        response.once('drain', push);
        return;
      }
    }
    seen.oversized = sent >= MOST_BYTES;
    response.end();
  };
  push();
}
