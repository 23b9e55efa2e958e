// The checkpoints that anchors, witnesses and time stamps keep, compared with the tree of the log while it is read; for `ops audit verify`.
import { hash } from 'node:crypto';
import type { Anchor } from '../ports/anchors.js';
import type { LogFault } from '../ports/inspectable-log.js';
import type { TransparencyFiles } from '../ports/transparency-files.js';
import { anchoredHead, TIME_STAMPS } from './anchoring.js';
import { readCheckpoint } from './checkpoint.js';
import type { GrowingRoot } from './merkle-tree.js';
import type { Outside } from './outside.js';
import type { SealKeys } from './seal-keys.js';
import { isStampOf } from './time-stamps.js';
import type { Witness } from './witness.js';

interface Kept {
  readonly size: number;
  /** In hexadecimal digits. */
  readonly root: string;
  /** A fault that has nothing to do with the log. */
  readonly fault?: string;
  /** The signed checkpoint; null if it is gone. */
  note(): Promise<string | null>;
}

/** One place, with its next checkpoint in the order of sizes. */
interface Place {
  readonly name: string;
  readonly checkpoints: AsyncIterator<Kept, void>;
  next: Kept | null;
  /** The first fault, and the number of further ones. */
  fault: string | null;
  further: number;
}

export class KeptCheckpoints {
  /** The size of the next checkpoint; Infinity after the last. */
  next = Infinity;
  compared = 0;
  /** The places that could not be read to their end, with the reason. */
  readonly unreached: { readonly place: string; readonly reason: string }[] = [];
  /** The largest size at which the log has the root of a kept checkpoint. */
  private good = 0;
  private readonly places: Place[];

  private constructor(
    sources: readonly (readonly [string, AsyncIterator<Kept, void>])[],
    private readonly keys: SealKeys,
  ) {
    this.places = sources.map(([name, checkpoints]) => ({ name, checkpoints, next: null, fault: null, further: 0 }));
  }

  static async open(
    { anchors, witnesses }: Pick<Outside, 'anchors' | 'witnesses'>,
    files: TransparencyFiles,
    keys: SealKeys,
  ): Promise<KeptCheckpoints> {
    const kept = new KeptCheckpoints(
      [
        ...anchors.map((anchor) => [anchor.name, inAnchor(anchor)] as const),
        ...witnesses.map((witness) => [`witness ${witness.name}`, inWitness(witness, keys.origin)] as const),
        [`transparency/${TIME_STAMPS}`, timeStamped(files)],
      ],
      keys,
    );
    for (const place of kept.places) await kept.advance(place);
    return kept;
  }

  /** Compares the checkpoints of the tree's present size, which is `next`. */
  async compare(tree: GrowingRoot): Promise<void> {
    const root = tree.root().toString('hex');
    const { good } = this;
    for (const place of this.places)
      for (let kept = place.next; kept?.size === tree.size; kept = place.next) {
        this.compared += 1;
        if (kept.fault !== undefined) complain(place, kept.fault);
        if (kept.root === root) this.good = tree.size;
        else complain(place, await this.difference(kept, good));
        await this.advance(place);
      }
  }

  /** `sizeNow`: the size of the last checkpoint after the walk. The service may have sealed in the meantime. */
  async faults(sizeNow: number): Promise<LogFault[]> {
    for (const place of this.places)
      for (let kept = place.next; kept !== null; kept = place.next) {
        if (kept.size > sizeNow)
          complain(place, `has a checkpoint of ${kept.size} events, but the last one of the log covers ${sizeNow}`);
        await this.advance(place);
      }
    return this.places.flatMap(({ name, fault, further }) =>
      fault === null
        ? []
        : [{ position: null, fault: `${name} ${fault}${further === 0 ? '' : `; ${further} later checkpoints too`}` }],
    );
  }

  private async difference(kept: Kept, good: number): Promise<string> {
    const note = await kept.note();
    const signed = note === null ? null : this.keys.open(note);
    if (signed?.size !== kept.size || signed.root.toString('hex') !== kept.root)
      return `has a checkpoint of ${kept.size} events that no key of SEAL_SIGNING_KEY signed`;
    return `keeps a signed checkpoint of ${kept.size} events that the log does not have: an event from index ${good} to ${kept.size - 1} was changed`;
  }

  private async advance(place: Place): Promise<void> {
    try {
      const { value, done } = await place.checkpoints.next();
      place.next = done === true ? null : value;
    } catch (error) {
      place.next = null;
      this.unreached.push({ place: place.name, reason: (error as Error).message });
    }
    this.next = Math.min(...this.places.map(({ next }) => next?.size ?? Infinity));
  }
}

function complain(place: Place, fault: string): void {
  if (place.fault === null) place.fault = fault;
  else place.further += 1;
}

async function* inAnchor(anchor: Anchor): AsyncGenerator<Kept, void> {
  for await (const name of anchor.names()) {
    const head = anchoredHead(name);
    if (head !== null) yield { ...head, note: async () => (await anchor.read(name))?.toString() ?? null };
  }
}

async function* inWitness(witness: Witness, origin: string): AsyncGenerator<Kept, void> {
  const note = await witness.checkpoint(origin);
  const head = note === null ? null : readCheckpoint(note);
  if (head !== null) yield { size: head.size, root: head.root.toString('hex'), note: () => Promise.resolve(note) };
}

async function* timeStamped(files: TransparencyFiles): AsyncGenerator<Kept, void> {
  const names = (await files.list(TIME_STAMPS)).filter((name) => /^\d{15}$/.test(name));
  for (const name of [...names].sort()) {
    const note = (await files.read(`${TIME_STAMPS}/${name}`))?.toString() ?? '';
    const stamp = await files.read(`${TIME_STAMPS}/${name}.tsr`);
    // A process that died between the two files leaves the first alone.
    const isStamped = stamp === null || isStampOf(stamp, hash('sha256', note, 'buffer'));
    yield {
      size: Number(name),
      root: readCheckpoint(note)?.root.toString('hex') ?? '',
      ...(!isStamped && { fault: `has a time stamp of ${Number(name)} events for another checkpoint` }),
      note: () => Promise.resolve(note),
    };
  }
}
