// Signed links to rendered PDFs.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isId } from '../../../kernel/ids.js';
import type { Vault } from '../../../ports/vault.js';

/** The parts of a link in a request. The parts may contain any text. */
export interface PdfLink {
  readonly fileId: string;
  readonly expires: unknown;
  readonly signature: unknown;
}

const WHOLE_MS = /^[0-9]{1,15}$/;

/** The link to a PDF. The reader of a link needs no other credential until the link expires. `at`: the beginning of every such link. */
export async function pdfLink(vault: Vault, at: string, fileId: string, expiresAt: Date): Promise<string> {
  const expires = String(expiresAt.getTime());
  const signature = (await sign(vault, fileId, expires)).toString('base64url');
  const query = new URLSearchParams({ expires, signature });
  return `${at.replace(/\/$/, '')}/reports/pdf/${fileId}?${query.toString()}`;
}

/** Whether the service signed the link, and the link has not expired. */
export async function isGood(vault: Vault, { fileId, expires, signature }: PdfLink, now: Date): Promise<boolean> {
  if (!isId(fileId) || typeof expires !== 'string' || !WHOLE_MS.test(expires) || typeof signature !== 'string')
    return false;
  const given = Buffer.from(signature, 'base64url');
  const right = await sign(vault, fileId, expires);
  return given.length === right.length && timingSafeEqual(given, right) && now.getTime() < Number(expires);
}

async function sign(vault: Vault, fileId: string, expires: string): Promise<Buffer> {
  return createHmac('sha256', await vault.installationKey('pdf-links'))
    .update(JSON.stringify([fileId, expires]))
    .digest();
}
