export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The id of the mail. A mail that is sent again has the same id. */
  readonly messageId: string;
}

/** Sends a mail within 15 s. Throws Unavailable if the mail server does not accept it. Addresses and texts are never logged. */
export abstract class MailSender {
  abstract send(mail: Mail): Promise<void>;
}
