// Knowledge of stored events. Every process that opens the log or the vault needs it, even if it runs no feature module.
import { Global, Module } from '@nestjs/common';
import { ErasureEvidence } from '../platform/audit/erasure-evidence.js';
import { Upcasting } from '../platform/upcasting/upcasters.js';
import { CaseTags } from '../ports/case-tags.js';
import { caseTagsOf } from './case-tags.js';
import { recordErasures } from './erasure-evidence.js';

/** All stored shapes are still current, so no upcaster is needed. */
export const UPCASTING = new Upcasting([]);

@Global()
@Module({
  providers: [
    { provide: Upcasting, useValue: UPCASTING },
    { provide: ErasureEvidence, useValue: { record: recordErasures } satisfies ErasureEvidence },
    { provide: CaseTags, useValue: { of: caseTagsOf } satisfies CaseTags },
  ],
  exports: [Upcasting, ErasureEvidence, CaseTags],
})
export class StoredEventsModule {}
