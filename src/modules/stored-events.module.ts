// What must be known of stored events wherever the log or the vault is opened, whichever feature modules run there.
import { Global, Module } from '@nestjs/common';
import { ErasureEvidence } from '../platform/audit/erasure-evidence.js';
import { Upcasting } from '../platform/upcasting/upcasters.js';
import { recordErasures } from './erasure-evidence.js';

/** No stored shape has been replaced yet. */
export const UPCASTING = new Upcasting([]);

@Global()
@Module({
  providers: [
    { provide: Upcasting, useValue: UPCASTING },
    { provide: ErasureEvidence, useValue: { record: recordErasures } satisfies ErasureEvidence },
  ],
  exports: [Upcasting, ErasureEvidence],
})
export class StoredEventsModule {}
