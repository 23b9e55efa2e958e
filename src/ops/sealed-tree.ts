import { Injectable } from '@nestjs/common';
import { HttpSettings } from '../config/http.js';
import { SealSettings } from '../config/sealing.js';
import { Anchors } from '../ports/anchors.js';
import { CaseTags } from '../ports/case-tags.js';
import { StoredLog } from '../ports/event-store.js';
import { SealSigningKey, TransparencyFiles } from '../ports/transparency-files.js';
import { outsideOf } from '../transparency/outside.js';
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
    private readonly anchors: Anchors,
    private readonly settings: SealSettings,
  ) {}

  verify(): Promise<TreeReport> {
    const { store, files } = this;
    const tagOf = this.tags.of(store, { records: false });
    const keys = new SealKeys(this.key.text, this.http.publicUrl);
    return verifyTree({ store, tagOf, files, keys }, outsideOf(keys, this.settings, this.anchors.list));
  }
}
