// Encrypts bytes that Redis stores for a short time. Redis' files keep the bytes much longer, so erasing the person must destroy the key of the
// bytes.
import { SubjectErased, type Vault } from '../../ports/vault.js';
import { decrypt, encrypt } from '../vault/aead.js';
import { expandKey } from '../vault/master-keys.js';

/** A key of the installation, for data that concerns no person. */
const INSTALLATION_KEY = 'sealed-in-redis';
/** The first byte of a value in the present format. Values that earlier versions encrypted under the master key begin with another byte. */
const FORMAT = 0xff;

/**
 * Data about a person is encrypted under the data key of the person's vault subject, and all other data under a key of the installation. The
 * reference and the purpose are authenticated, so a value opens only with its own.
 *
 * A sealed value is the format, one byte with the length of the subject (0: the installation's key), the subject, and the sealed bytes.
 */
export class Sealing {
  constructor(
    private readonly vault: Pick<Vault, 'seal' | 'open' | 'installationKey'>,
    private readonly purpose: string,
  ) {}

  /** Throws SubjectErased. */
  async seal(subject: string | null, reference: string, content: Uint8Array): Promise<Buffer> {
    const context = this.contextOf(reference);
    const sealed =
      subject === null
        ? encrypt(await this.keyFor(context), context, content)
        : await this.vault.seal(subject, context, content);
    return Buffer.concat([Buffer.of(FORMAT, subject?.length ?? 0), Buffer.from(subject ?? '', 'latin1'), sealed]);
  }

  /** Null if the person was erased, and for a value of an earlier version, which counts as missing. Throws NotAuthentic. */
  async open(reference: string, sealed: Buffer): Promise<Buffer | null> {
    if (sealed[0] !== FORMAT) return null;
    const context = this.contextOf(reference);
    const subject = sealed.toString('latin1', 2, 2 + (sealed[1] ?? 0));
    const bytes = sealed.subarray(2 + subject.length);
    if (subject === '') return decrypt(await this.keyFor(context), context, bytes);
    try {
      return Buffer.from(await this.vault.open(subject, context, bytes));
    } catch (error) {
      if (error instanceof SubjectErased) return null;
      throw error;
    }
  }

  private contextOf(reference: string): string {
    return `${this.purpose}/${reference}`;
  }

  private async keyFor(context: string): Promise<Buffer> {
    return expandKey(await this.vault.installationKey(INSTALLATION_KEY), context);
  }
}

/** Whether an earlier version sealed the value. When the person was erased in the meantime, the value may be empty, without a format. */
export function isOfEarlierFormat(sealed: Buffer): boolean {
  return sealed.length > 0 && sealed[0] !== FORMAT;
}

/** Redis takes whole milliseconds, at least one. */
export function wholeMs(ms: number): number {
  return Math.max(1, Math.floor(ms));
}
