import type { Variables } from './variables.js';
import { urlIn } from '../kernel/url.js';

/** The mail server and the sender of the service's mails. This class is also the injection token. */
export abstract class MailSettings {
  /** The mail server, `smtp://` or `smtps://`. With null, the service sends no mail. */
  abstract readonly url: string | null;
  abstract readonly from: string;
}

export function readMail(env: Variables): MailSettings {
  const url = env.text('SMTP_URL');
  if (url !== null && !isMailServer(url)) env.fault('SMTP_URL', 'must be an smtp:// or smtps:// URL');
  const from = env.text('MAIL_FROM');
  if (from === null ? url !== null : !/^[^\s@<>]+@[^\s@<>]+$/.test(from))
    env.fault('MAIL_FROM', "must be the sender's mail address when SMTP_URL is set");
  return { url, from: from ?? '' };
}

function isMailServer(url: string): boolean {
  const { protocol = '', hostname } = urlIn(url) ?? {};
  return /^smtps?:$/.test(protocol) && hostname !== '';
}
