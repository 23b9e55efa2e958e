import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isId } from '../../../kernel/ids.js';
import { Vault } from '../../../ports/vault.js';
import { ReportPolicy } from './report-policy.js';

/** The parts of a link, as the request has them. They may hold any text. */
export interface PdfLink {
  readonly fileId: string;
  readonly expires: unknown;
  readonly signature: unknown;
}

const WHOLE_MS = /^[0-9]{1,15}$/;

/** Signs links to rendered PDFs. Until it expires, a link is the only credential that its reader needs. */
@Injectable()
export class PdfLinks {
  constructor(
    private readonly vault: Vault,
    private readonly policy: ReportPolicy,
  ) {}

  async make(fileId: string, expiresAt: Date): Promise<string> {
    const expires = String(expiresAt.getTime());
    const query = new URLSearchParams({ expires, signature: (await this.sign(fileId, expires)).toString('base64url') });
    return `${this.policy.pdfUrl.replace(/\/$/, '')}/reports/pdf/${fileId}?${query.toString()}`;
  }

  /** Whether the service signed the link, and it has not expired. */
  async isGood({ fileId, expires, signature }: PdfLink, now: Date): Promise<boolean> {
    if (!isId(fileId) || typeof expires !== 'string' || !WHOLE_MS.test(expires) || typeof signature !== 'string')
      return false;
    const given = Buffer.from(signature, 'base64url');
    const right = await this.sign(fileId, expires);
    return given.length === right.length && timingSafeEqual(given, right) && now.getTime() < Number(expires);
  }

  private async sign(fileId: string, expires: string): Promise<Buffer> {
    return createHmac('sha256', await this.vault.installationKey('pdf-links'))
      .update(JSON.stringify([fileId, expires]))
      .digest();
  }
}
