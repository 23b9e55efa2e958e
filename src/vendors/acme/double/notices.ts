// Tells the service about the decisions of people, and about income checks that have moved on, with a signed notice.
import { createHmac, randomUUID } from 'node:crypto';
import { limited } from '../../../kernel/with-timeout.js';

export interface NoticeReceiver {
  readonly url: string;
  readonly secret: string;
}

interface Notice {
  readonly id: string;
  readonly body: string;
}

/** `subject`: the verification, or the round of a check. A notice about the same subject is the same notice. */
interface Told {
  readonly subject: string;
  readonly type: 'verification.decided' | 'verification.moved' | 'income_check.moved';
  readonly reference: string | null;
}

const LIMIT_MS = 5_000;

/** Sends each notice once. A receiver that misses a notice asks for the verification itself, or a test sends the notice again. */
export class Notices {
  private readonly notices = new Map<string, Notice>();
  private readonly end = new AbortController();

  constructor(
    private readonly receiver: NoticeReceiver | null,
    private readonly now: () => number,
  ) {}

  /** Returns the status of the receiver; null if it did not answer. */
  async tell({ subject, type, reference }: Told): Promise<number | null> {
    const earlier = this.notices.get(subject);
    const id = earlier?.id ?? `ntc_${randomUUID().replaceAll('-', '')}`;
    const created_at = new Date(this.now()).toISOString();
    const about = type === 'verification.decided' ? { verification: subject } : {};
    const told = { id, type, ...about, reference, created_at };
    const notice = earlier ?? { id, body: JSON.stringify(told) };
    this.notices.set(subject, notice);
    return this.receiver === null ? null : this.post(this.receiver, notice);
  }

  close(): void {
    this.end.abort();
  }

  private async post({ url, secret }: NoticeReceiver, { body }: Notice): Promise<number | null> {
    const timestamp = Math.floor(this.now() / 1_000);
    const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    try {
      return await limited(LIMIT_MS, this.end.signal, async (limit) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'acme-signature': `t=${timestamp},v1=${signature}` },
          body,
          redirect: 'manual',
          signal: limit,
        });
        await response.body?.cancel();
        return response.status;
      });
    } catch {
      // The receiver is missing or too slow, or the sandbox is closing.
      return null;
    }
  }
}
