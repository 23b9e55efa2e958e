// A TCP server that reads HTTP requests and answers any bytes that a test chooses. The server acts as a vendor that
// misbehaves.
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';

export interface SeenRequest {
  readonly line: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Called with every complete request and its number, from 1. */
export type Respond = (socket: Socket, request: SeenRequest, count: number) => void;

export interface MisbehavingServer {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

export async function misbehavingServer(respond: Respond): Promise<MisbehavingServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let request = cutRequest(); request !== null; request = cutRequest()) {
        requests.push(request);
        respond(socket, request, requests.length);
      }
    });
    function cutRequest(): SeenRequest | null {
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return null;
      const [line = '', ...rest] = received.slice(0, end).split('\r\n');
      const headers = new Map(
        rest.map((header) => [
          header.slice(0, header.indexOf(':')).toLowerCase(),
          header.slice(header.indexOf(':') + 2),
        ]),
      );
      const length = Number(headers.get('content-length') ?? 0);
      if (received.length < end + 4 + length) return null;
      const body = received.slice(end + 4, end + 4 + length);
      received = received.slice(end + 4 + length);
      return { line, headers, body };
    }
  });
  await listen(server);
  return {
    url: urlOf(server),
    requests,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

export function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A response with its content length. */
export function json(status: number, body: unknown): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Every way in which an exchange can end without a complete answer after the request was read. */
export const AMBIGUOUS_ENDS: readonly (readonly [name: string, respond: (socket: Socket) => void])[] = [
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  ['closes the connection', (socket) => socket.end()],
  ['closes in the middle of the head', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-')],
  [
    'closes in the middle of a body of known length',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"outcome":"confirmed"'),
  ],
  [
    'closes in the middle of a chunked body',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"out\r\n'),
  ],
  [
    'closes in the middle of the last chunked body',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"out\r\n'),
  ],
  [
    'resets in the middle of the body',
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{', () => socket.resetAndDestroy()),
  ],
  ['does not speak HTTP', (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n\r\n')],
  ['is a gateway that lost the vendor (502)', (socket) => socket.write(json(502, { message: 'bad gateway' }))],
  ['is a gateway that waited in vain (504)', (socket) => socket.write('HTTP/1.1 504 X\r\ncontent-length: 2\r\n\r\nno')],
];
