// The mail sender against real SMTP servers on loopback.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { SmtpMailSender } from '../../../src/adapters/mail-sender/smtp.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import type { Mail } from '../../../src/ports/mail-sender.js';
import { CertificateAuthority } from '../../support/certificates.js';

const FROM = 'service@mail.example.test';
const TO = 'canary-contact@example.test';
const MAIL: Mail = {
  to: TO,
  subject: 'Your endpoint is failing – now',
  text: 'Several deliveries failed.\n.\nA line of its own.\n',
  messageId: '0190a6d0-0000-7000-8000-000000000001',
};

interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly user: string | undefined;
  readonly secure: boolean;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(
  options: SMTPServerOptions = {},
): Promise<{ readonly received: Received[]; readonly host: string }> {
  const received: Received[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    logger: false,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8'),
          user: session.user as string | undefined,
          secure: session.secure,
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  closing.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { received, host: `127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

/** A server that sends raw bytes, for behaviour that real mail servers do not have. */
async function serveBytes(
  talk: (socket: Socket) => void,
): Promise<{ readonly host: string; readonly closed: Promise<unknown> }> {
  const sockets = new Set<Socket>();
  let settle: (value: unknown) => void = () => undefined;
  const closed = new Promise((resolve) => (settle = resolve));
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', settle);
    // Without this line, the socket would not notice that the other side closes the connection.
    socket.resume();
    talk(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, closed };
}

const refusing = (responseCode: number): Error => Object.assign(new Error(`not for ${TO}`), { responseCode });
const troubleOf = (sending: Promise<void>): Promise<unknown> =>
  sending.then(
    () => 'sent',
    (error: unknown) => error,
  );

async function expectUnavailable(sending: Promise<void>): Promise<void> {
  const trouble = await troubleOf(sending);
  expect(trouble).toBeInstanceOf(Unavailable);
  const everything = `${(trouble as Error).message} ${(trouble as Error).stack} ${JSON.stringify(trouble)} ${String((trouble as Error).cause)}`;
  for (const secret of [TO, 'canary', 'hunter2', MAIL.subject, 'Several deliveries'])
    expect(everything).not.toContain(secret);
}

describe('the mail sender', () => {
  it('passes the mail to the server with the sender, a fixed message id, and the unchanged text', async () => {
    const { received, host } = await serve();
    const sender = new SmtpMailSender({ url: `smtp://${host}`, from: FROM });
    await sender.send(MAIL);
    await sender.send(MAIL);
    expect(received.map(({ from, to }) => ({ from, to }))).toEqual([
      { from: FROM, to: [TO] },
      { from: FROM, to: [TO] },
    ]);
    for (const { text } of received) {
      expect(text).toContain('Message-ID: <0190a6d0-0000-7000-8000-000000000001@mail.example.test>\r\n');
      expect(text).toContain('Auto-Submitted: auto-generated\r\n');
      expect(text).toMatch(/Subject: =\?UTF-8\?/);
      expect(text).toContain('Several deliveries failed.\r\n');
      expect(text).toContain('A line of its own.');
    }
  });

  it('sends to one recipient only, even if the address contains more addresses or headers', async () => {
    const { received, host } = await serve();
    const sender = new SmtpMailSender({ url: `smtp://${host}`, from: FROM });
    for (const to of [`${TO}\r\nBcc: other@example.test`, `${TO}, other@example.test`])
      await troubleOf(sender.send({ ...MAIL, to }));
    for (const { to, text } of received) {
      expect(to).toHaveLength(1);
      expect(text).not.toMatch(/^bcc:/im);
    }
  });

  it('logs in with the credentials of the URL over TLS', async () => {
    const authority = new CertificateAuthority();
    const { received, host } = await serve({
      ...authority.issue({ hosts: ['127.0.0.1'] }),
      secure: true,
      authOptional: false,
      onAuth: ({ username, password }, _session, done) => done(null, password === 'hunter2' ? { user: username } : {}),
    });
    // The next test checks certificates.
    await new SmtpMailSender({ url: `smtps://robot:hunter2@${host}?tls.rejectUnauthorized=false`, from: FROM }).send(
      MAIL,
    );
    expect(received).toMatchObject([{ user: 'robot', secure: true }]);
    await expectUnavailable(
      new SmtpMailSender({ url: `smtps://robot:wrong@${host}?tls.rejectUnauthorized=false`, from: FROM }).send(MAIL),
    );
  });

  it('refuses a certificate that fails verification', async () => {
    const { received, host } = await serve({
      ...new CertificateAuthority().issue({ hosts: ['127.0.0.1'] }),
      secure: true,
    });
    await expectUnavailable(new SmtpMailSender({ url: `smtps://${host}`, from: FROM }).send(MAIL));
    expect(received).toEqual([]);
  });

  it('sends no credentials when the server does not offer TLS', async () => {
    const seen: string[] = [];
    const { host } = await serve({
      allowInsecureAuth: true,
      onAuth: ({ username }, _session, done) => (seen.push(username ?? ''), done(null, { user: username })),
    });
    await expectUnavailable(new SmtpMailSender({ url: `smtp://robot:hunter2@${host}`, from: FROM }).send(MAIL));
    expect(seen).toEqual([]);
  });

  it('does not fail when the server refuses the recipient permanently', async () => {
    const { received, host } = await serve({ onRcptTo: (_address, _session, done) => done(refusing(550)) });
    await new SmtpMailSender({ url: `smtp://${host}`, from: FROM }).send(MAIL);
    expect(received).toEqual([]);
  });

  it.each([421, 450, 451, 452, 503])(
    'is unavailable when the recipient is refused temporarily with %d',
    async (code) => {
      const { host } = await serve({ onRcptTo: (_address, _session, done) => done(refusing(code)) });
      await expectUnavailable(new SmtpMailSender({ url: `smtp://${host}`, from: FROM }).send(MAIL));
    },
  );

  it("is unavailable when the sender or the text is refused, because this is not the recipient's fault", async () => {
    const sender = await serve({ onMailFrom: (_address, _session, done) => done(refusing(550)) });
    await expectUnavailable(new SmtpMailSender({ url: `smtp://${sender.host}`, from: FROM }).send(MAIL));
    const text = await serve({
      onData: (stream, _session, done) => void stream.resume().on('end', () => done(refusing(554))),
    });
    await expectUnavailable(new SmtpMailSender({ url: `smtp://${text.host}`, from: FROM }).send(MAIL));
  });

  it('is unavailable when no server listens, the answer is not SMTP, or the connection breaks', async () => {
    const { host } = await serve();
    await closing.pop()?.();
    await expectUnavailable(new SmtpMailSender({ url: `smtp://${host}`, from: FROM }).send(MAIL));
    const web = await serveBytes((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await expectUnavailable(new SmtpMailSender({ url: `smtp://${web.host}`, from: FROM }).send(MAIL));
    const broken = await serveBytes((socket) => void socket.write('220 hello\r\n', () => socket.resetAndDestroy()));
    await expectUnavailable(new SmtpMailSender({ url: `smtp://${broken.host}`, from: FROM }).send(MAIL));
  });

  it.each([
    ['says nothing', (_socket: Socket) => undefined],
    ['greets and then stays silent', (socket: Socket) => void socket.write('220 hello\r\n')],
    ['never ends its greeting', (socket: Socket) => void drip(socket, '220-still here\r\n')],
  ])(
    'has one time limit for the whole exchange, even for a server that %s, and closes the connection',
    async (_what, talk) => {
      const { host, closed } = await serveBytes(talk);
      await expectUnavailable(new SmtpMailSender({ url: `smtp://${host}`, from: FROM, timeoutMs: 100 }).send(MAIL));
      await closed;
    },
  );

  it('sends nothing when no server is configured', async () => {
    await new SmtpMailSender({ url: null, from: '' }).send(MAIL);
  });
});

function drip(socket: Socket, line: string): void {
  const timer = setInterval(() => socket.write(line), 5);
  socket.on('close', () => clearInterval(timer));
}
