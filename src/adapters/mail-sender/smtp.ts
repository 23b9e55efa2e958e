// Sends mails through a mail server.
import { createTransport } from 'nodemailer';
import { Unavailable } from '../../kernel/unavailable.js';
import { MailSender, type Mail } from '../../ports/mail-sender.js';

export interface SmtpMailSenderOptions {
  /** `smtp://` or `smtps://`, with credentials if the server requires them. With null, no mail is sent. */
  readonly url: string | null;
  /** The sender address. */
  readonly from: string;
  /** The limit of the whole exchange in milliseconds. The default is 15,000. */
  readonly timeoutMs?: number;
}

/** The parts of nodemailer's errors that are used. The errors' messages quote addresses. */
interface SmtpError {
  readonly code?: string;
  readonly responseCode?: number;
  /** Errors about single recipients. */
  readonly rejectedErrors?: readonly { readonly permanent?: boolean }[];
}

const LIMIT_MS = 15_000;

/**
 * One connection for each mail, because mails are few. A recipient that the server refuses permanently counts as done, because another try would
 * change nothing. Any other failure throws Unavailable. The error names neither the recipient nor the mail.
 */
export class SmtpMailSender extends MailSender {
  private readonly transport: ReturnType<typeof createTransport> | null;
  private readonly domain: string;

  constructor(private readonly options: SmtpMailSenderOptions) {
    super();
    this.transport =
      options.url === null
        ? null
        : createTransport({
            url: options.url,
            requireTLS: carriesCredentials(options.url),
            disableFileAccess: true,
            disableUrlAccess: true,
          });
    this.domain = /@([\w.-]+)>?$/.exec(options.from)?.[1] ?? 'localhost';
  }

  override async send({ to, subject, text, messageId }: Mail): Promise<void> {
    if (this.transport === null) return;
    const signal = AbortSignal.timeout(this.options.timeoutMs ?? LIMIT_MS);
    try {
      await this.transport.sendMail({
        from: this.options.from,
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${messageId}@${this.domain}>`,
        headers: { 'auto-submitted': 'auto-generated' },
        signal,
      });
    } catch (error) {
      const { code, responseCode, rejectedErrors } = error as SmtpError;
      if (rejectedErrors?.length && rejectedErrors.every(({ permanent }) => permanent)) return;
      // The error is thrown without the cause, which names addresses.
      throw new Unavailable(
        `The mail server did not take a mail (${signal.aborted ? 'time is over' : [code, responseCode].filter(Boolean).join(' ')})`,
      );
    }
  }
}

/** Credentials are sent only over TLS, unless the URL itself says `requireTLS=false`. */
function carriesCredentials(url: string): boolean {
  return new URL(url).username !== '';
}
