// Exports the case file of a screening: finds its events, waits for their seal, and writes the file as a whole.
import { hash, randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { syncPath, writeNew } from '../adapters/durable-files.js';
import { HttpSettings } from '../config/http.js';
import { PdfSettings } from '../config/pdf.js';
import { ProcessSettings } from '../config/process.js';
import { SealSettings } from '../config/sealing.js';
import type { RecordedEvent } from '../kernel/domain-event.js';
import { account, type AccountEvent } from '../modules/accounts/domain/account.js';
import { sessionGrant } from '../modules/accounts/domain/session-grant.js';
import { accountHolds, type AccountHoldsEvent } from '../modules/holds/domain/account-holds.js';
import { operatorUses, type OperatorUseEvent, USES } from '../modules/operators/domain/operator-uses.js';
import type { SessionEvent } from '../modules/screening/domain/session.js';
import { Anchors } from '../ports/anchors.js';
import { CaseTags } from '../ports/case-tags.js';
import { EventStore, StoredLog } from '../ports/event-store.js';
import { HandlerCheckpoints } from '../ports/handler-checkpoints.js';
import { SealSigningKey, TransparencyFiles } from '../ports/transparency-files.js';
import { caseFile, type CaseFileParts, type SealedCase, sealedCase } from '../transparency/case-file.js';
import { lastSigned, SealBroken } from '../transparency/log-folder.js';
import { outsideOf } from '../transparency/outside.js';
import { SealKeys } from '../transparency/seal-keys.js';
import { Sealer, type SealerObserver } from '../transparency/sealer.js';
import { eventsAbout, readBack } from './events-about.js';
import { Progress, WrongInput } from './operator.js';
import { OperatorLists } from './operator-lists.js';

type Submitted = RecordedEvent & Extract<SessionEvent, { type: 'ScreeningSubmitted' }>;

const LOOK_EVERY_MS = 200;
/** Longer than the lease of a sealer that was killed, and than the requests to slow witnesses. */
const PATIENCE_MS = 120_000;
const PRINTED_WITHIN_MS = 120_000;

export interface Exported {
  readonly events: number;
  readonly eventsOfCase: number;
  readonly checkpointSize: number;
  readonly sha256: string;
  /** Whether the file has timeline.pdf. */
  readonly pdf: boolean;
}

@Injectable()
export class CaseExport {
  constructor(
    private readonly events: EventStore,
    private readonly store: StoredLog,
    private readonly lists: OperatorLists,
    private readonly tags: CaseTags,
    private readonly files: TransparencyFiles,
    private readonly leases: HandlerCheckpoints,
    private readonly key: SealSigningKey,
    private readonly anchors: Anchors,
    private readonly http: HttpSettings,
    private readonly sealing: SealSettings,
    private readonly pdf: PdfSettings,
    private readonly process: ProcessSettings,
  ) {}

  /** The events of the screening's own streams, and those of shared streams that concern it. Empty if the screening is unknown. */
  async eventsOf(screening: string): Promise<RecordedEvent[]> {
    const about = await eventsAbout(screening, this.events, this.lists);
    const submitted = about.find(({ type }) => type === 'ScreeningSubmitted') as Submitted | undefined;
    if (submitted === undefined) return [];
    const { grantId } = submitted.data;
    if (grantId !== undefined) about.push(...(await this.events.readStream(`${sessionGrant.category}-${grantId}`)));
    about.push(...(await this.ofAccount(screening, submitted)));
    for await (const event of readBack(`${operatorUses.category}-${USES}`, submitted.metadata, this.events)) {
      const { subject } = (event as RecordedEvent & OperatorUseEvent).data;
      if (subject?.id === screening) about.push(event);
    }
    return about;
  }

  /** The purposes that the account has certified, and the holds on the case with the erasures that they defer. */
  private async ofAccount(screening: string, { data, metadata }: Submitted): Promise<RecordedEvent[]> {
    const { accountId } = metadata;
    const changes = (await this.events.readStream(`${account.category}-${accountId}`)) as (RecordedEvent &
      AccountEvent)[];
    const holds = (await this.events.readStream(`${accountHolds.category}-${accountId}`)) as (RecordedEvent &
      AccountHoldsEvent)[];
    const covered = new Set<string | null>([screening, data.subjectId, accountId]);
    const holdIds = new Set(
      holds.flatMap((event) =>
        event.type === 'HoldPlaced' && covered.has(event.data.covers.id) ? [event.data.holdId] : [],
      ),
    );
    return [
      ...changes.filter(({ type }) => type === 'PurposesCertified'),
      ...holds.filter((event) =>
        'holdId' in event.data ? holdIds.has(event.data.holdId) : covered.has(event.data.id),
      ),
    ];
  }

  /** Writes the case file. A reader sees no file, or the whole file, even after a killed process or on a full disk. */
  async write(to: string, about: Omit<CaseFileParts['about'], 'exportedAt'>, now: Date): Promise<Exported> {
    // The stored events, because an upcasted event would not have the hash of its entry.
    const events = await this.stored(await this.eventsOf(about.screening));
    const { sealed, policy } = await this.sealed(events);
    let hasPdf = false;
    const zip = await caseFile(this.log(), {
      sealed,
      policy,
      about: { ...about, exportedAt: now.toISOString() },
      documents: new Map(),
      print: async (html) => {
        const printed = await this.printed(html);
        hasPdf = printed !== null;
        return printed;
      },
    });
    await writeWhole(to, zip);
    return {
      events: sealed.events.length,
      eventsOfCase: sealed.events.filter(({ ofCase }) => ofCase).length,
      checkpointSize: sealed.checkpoint.size,
      sha256: hash('sha256', zip, 'hex'),
      pdf: hasPdf,
    };
  }

  private log() {
    return {
      store: this.store,
      tagOf: this.tags.of(this.store, { records: false }),
      read: (path: string) => this.files.read(path),
    };
  }

  private async stored(events: readonly RecordedEvent[]): Promise<RecordedEvent[]> {
    const found = new Map<string, RecordedEvent>();
    for (const { stream, revision, id } of events) {
      if (found.has(id)) continue;
      const [event] = await this.store.readStream(stream, { from: revision, limit: 1 });
      if (event?.id !== id) throw new Error('The log changed during the export');
      found.set(id, event);
    }
    return [...found.values()].sort((one, other) => (one.position < other.position ? -1 : 1));
  }

  /** Waits for a checkpoint over the events. If no service seals the log, this process seals it. */
  private async sealed(
    events: readonly RecordedEvent[],
  ): Promise<{ readonly sealed: SealedCase; readonly policy: string }> {
    const { files, leases, store } = this;
    const keys = new SealKeys(this.key.text, this.http.publicUrl);
    const outside = outsideOf(keys, this.sealing, this.anchors.list);
    let stopped: SealBroken | null = null;
    const observer: SealerObserver = {
      stopped: (reason) => (stopped = reason),
      failed: () => undefined,
      sealed: () => undefined,
      asked: () => undefined,
      weak: () => undefined,
    };
    const tagOf = this.tags.of(store, { records: true });
    const sealer = new Sealer({ store, tagOf, files, leases, keys, outside }, observer, 0, LOOK_EVERY_MS);
    if (!this.process.readOnly) sealer.start();
    try {
      return { sealed: await this.covered(events, keys, () => stopped), policy: outside.policy };
    } catch (error) {
      throw error instanceof SealBroken ? new WrongInput(`${NOT_SEALED} ${error.message}`) : error;
    } finally {
      if (!this.process.readOnly) await sealer.stop();
    }
  }

  /** `stopped`: why this process can seal nothing. */
  private async covered(
    events: readonly RecordedEvent[],
    keys: SealKeys,
    stopped: () => SealBroken | null,
  ): Promise<SealedCase> {
    const progress = new Progress();
    const until = performance.now() + this.sealing.interval * 1_000 + PATIENCE_MS;
    for (let seen = ''; performance.now() < until; await setTimeout(LOOK_EVERY_MS)) {
      const checkpoint = await lastSigned(this.files, keys);
      if (checkpoint?.isPublished === true && checkpoint.note !== seen) {
        seen = checkpoint.note;
        const sealed = await sealedCase(this.log(), events, checkpoint);
        if (sealed !== null) return sealed;
      }
      const reason = this.process.readOnly ? new SealBroken('A restored copy cannot seal them.') : stopped();
      if (reason !== null) throw reason;
      progress.told(() => 'Waiting for the seal of the newest event.');
    }
    throw new WrongInput(`${NOT_SEALED} No process seals the log.`);
  }

  /** Null if this machine cannot print. */
  private async printed(html: string): Promise<Uint8Array | null> {
    const { ChromiumPdfRenderer } = await import('../adapters/pdf-renderer/chromium.js');
    const { chromiumPath: executablePath, searchPath } = this.pdf;
    const renderer = new ChromiumPdfRenderer({ executablePath, searchPath, limitMs: PRINTED_WITHIN_MS });
    try {
      const page = await renderer.render(html, 'live', 'served');
      return page.kind === 'pdf' ? page.content : null;
    } finally {
      await renderer.close();
    }
  }
}

const NOT_SEALED = 'The newest events of the case are not sealed, so nothing was exported.';

async function writeWhole(to: string, content: Uint8Array): Promise<void> {
  const draft = `${to}.${randomUUID()}.part`;
  try {
    await writeNew(draft, content);
    await rename(draft, to);
    await syncPath(dirname(to));
  } catch (error) {
    throw new WrongInput(`The case file cannot be written: ${error instanceof Error ? error.message : String(error)}.`);
  } finally {
    await rm(draft, { force: true });
  }
}
