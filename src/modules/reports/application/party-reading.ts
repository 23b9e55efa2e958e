// What servers of the direct API ask for when they open reports, and how often they may.
import { Injectable } from '@nestjs/common';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import type { Section } from './report-sections.js';
import type { ReportFormat } from '../domain/report-view.js';
import { ReportPolicy } from './report-policy.js';

export interface ReportQuery {
  readonly format: ReportFormat;
  readonly leaveOut: ReadonlySet<Section>;
  /** The key whose reads are counted. */
  readonly keyId: string;
}

@Injectable()
export class PartyReading {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly policy: ReportPolicy,
  ) {}

  /** Refuses a key that has read too much. */
  async admit(keyId: string): Promise<void> {
    await this.limiter.admit([
      { key: `report-reads:${keyId}`, limit: this.policy.limits.readsPerMinute, windowSeconds: 60 },
    ]);
  }
}
