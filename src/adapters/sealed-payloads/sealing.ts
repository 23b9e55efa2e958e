// How bytes are sealed that Redis holds for a while. Redis' files keep them much longer, so that their key must die with the person.
import { SubjectErased, type Vault } from '../../ports/vault.js';
import { decrypt, encrypt } from '../vault/aead.js';
import { expandKey } from '../vault/master-keys.js';

/** Of the installation: seals what concerns no person. */
const INSTALLATION_KEY = 'sealed-in-redis';
/** The first byte. What earlier versions sealed, under the master key, begins with another. */
const FORMAT = 0xff;

/**
 * What concerns a person is sealed under the data key of the person's vault subject, anything else under a key of the
 * installation. The reference is authenticated, so that what lies under another one opens nothing; nor does another purpose.
 *
 * Sealed: the format, one byte that counts the characters of the subject (none: the installation's key), the subject, the sealed bytes.
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

  /** Null when the person was erased; also for what an earlier version sealed, which counts as gone. Throws NotAuthentic. */
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

/** What an earlier version sealed. Of a person erased meanwhile there may be nothing at all, which has no format. */
export function isOfEarlierFormat(sealed: Buffer): boolean {
  return sealed.length > 0 && sealed[0] !== FORMAT;
}

/** Redis takes whole milliseconds, at least one. */
export function wholeMs(ms: number): number {
  return Math.max(1, Math.floor(ms));
}
