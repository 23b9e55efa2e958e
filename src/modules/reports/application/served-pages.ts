// Recognises a report's page that any process of the service served: the page ends with a keyed digest of itself.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Vault } from '../../../ports/vault.js';

@Injectable()
export class ServedPages {
  constructor(private readonly vault: Vault) {}

  /** The page of the session's report, with the mark at its end. */
  async marked(sessionId: string, page: string): Promise<string> {
    const digest = createHmac('sha256', await this.vault.installationKey('served-pages'));
    return page + markOf(digest.update(JSON.stringify([sessionId, page])).digest('base64'));
  }

  /** Whether the service served exactly this page for this session's report. */
  async isServed(sessionId: string, page: string): Promise<boolean> {
    const given = Buffer.from(page);
    const right = Buffer.from(await this.marked(sessionId, page.slice(0, -MARK_LENGTH)));
    return given.length === right.length && timingSafeEqual(given, right);
  }
}

/** The end of the page; it shows nothing. */
function markOf(digest: string): string {
  return `<!-- As served: ${digest} -->`;
}

const DIGEST_LENGTH = 44;
const MARK_LENGTH = markOf('').length + DIGEST_LENGTH;
