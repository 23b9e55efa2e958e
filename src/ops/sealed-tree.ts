import { Injectable } from '@nestjs/common';
import { HttpSettings } from '../config/http.js';
import { CaseTags } from '../ports/case-tags.js';
import { StoredLog } from '../ports/event-store.js';
import { SealSigningKey, TransparencyFiles } from '../ports/transparency-files.js';
import { SealKeys } from '../transparency/seal-keys.js';
import { type TreeReport, verifyTree } from '../transparency/verify-tree.js';

/** The transparency log of the installation, for `ops audit verify`. */
@Injectable()
export class SealedTree {
  constructor(
    private readonly store: StoredLog,
    private readonly tags: CaseTags,
    private readonly files: TransparencyFiles,
    private readonly key: SealSigningKey,
    private readonly http: HttpSettings,
  ) {}

  verify(): Promise<TreeReport> {
    const { store, files } = this;
    const tagOf = this.tags.of(store, { records: false });
    return verifyTree({ store, tagOf, files, keys: new SealKeys(this.key.text, this.http.publicUrl) });
  }
}
