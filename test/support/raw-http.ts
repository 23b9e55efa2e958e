// HTTP as bytes on a socket, for requests that no client library sends.
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body. Undefined when the body is not JSON. */
  readonly body: any;
}

export interface RawExchange {
  /** Interim replies are not included. */
  readonly replies: readonly RawReply[];
  /** Bytes that arrived and do not make a whole reply. */
  readonly rest: string;
}

/** Sends the bytes. Waits for the wanted number of replies, or until the connection ends. */
export function exchange(
  port: number,
  bytes: string | Buffer,
  {
    replies: wanted = 1,
    tls = false,
    localAddress = '127.0.0.1',
  }: { readonly replies?: number; readonly tls?: boolean; readonly localAddress?: string } = {},
): Promise<RawExchange> {
  return new Promise((resolve) => {
    const host = '127.0.0.1';
    const plain = connect({ host, port, localAddress });
    const socket: Socket = tls ? connectTls({ socket: plain, rejectUnauthorized: false }) : plain;
    let came = '';
    const finish = (): void => {
      socket.destroy();
      resolve(parsed(came));
    };
    socket.on('error', () => undefined).on('close', finish);
    socket.on('data', (chunk: Buffer) => {
      came += chunk.toString('latin1');
      if (parsed(came).replies.length >= wanted) finish();
    });
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  });
}

function parsed(bytes: string): RawExchange {
  const replies: RawReply[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...fields] = rest.slice(0, Math.max(end, 0)).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? Number.NaN);
    if (end < 0 || Number.isNaN(status)) return { replies, rest };
    const headers = Object.fromEntries(
      fields.map((field) => {
        const colon = field.indexOf(':');
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers['content-length'] ?? 0);
    const text = rest.slice(end + 4, end + 4 + length);
    if (text.length < length) return { replies, rest };
    rest = rest.slice(end + 4 + length);
    if (status >= 200) replies.push({ status, headers, text, body: jsonOf(text) });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
  } catch {
    return undefined;
  }
}
