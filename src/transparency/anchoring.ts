// Takes published checkpoints to the anchors, and has them time-stamped. A place that fails gets the next checkpoint, which covers the earlier ones.
import type { TransparencyFiles } from '../ports/transparency-files.js';
import type { Checkpoint } from './checkpoint.js';
import type { Outside } from './outside.js';

/** The folder of the time-stamped checkpoints. */
export const TIME_STAMPS = 'timestamps';
const SIZE_DIGITS = 15;

/** The name of a checkpoint's file in an anchor: its size and its root. The names have the order of the sizes. */
export function anchoredName({ size, root }: Pick<Checkpoint, 'size' | 'root'>): string {
  return `${paddedSize(size)}-${root.toString('hex')}`;
}

/** Null for another name, such as that of a time stamp. */
export function anchoredHead(name: string): { readonly size: number; readonly root: string } | null {
  const [, size, root = ''] = /^(\d{15})-([0-9a-f]{64})$/.exec(name) ?? [];
  return size === undefined ? null : { size: Number(size), root };
}

export function paddedSize(size: number): string {
  return String(size).padStart(SIZE_DIGITS, '0');
}

export interface AnchoringObserver {
  asked(place: string, problem: unknown): void;
  weak(place: string, reason: string): void;
}

export class Anchoring {
  private stampAfter = 0;
  private isChecked = false;

  constructor(
    private readonly outside: Pick<Outside, 'anchors' | 'authority' | 'timeStampIntervalMs'>,
    private readonly files: TransparencyFiles,
    private readonly observer: AnchoringObserver,
  ) {}

  /** Never throws. Ends within the time limits of the places. */
  async keep(checkpoint: Checkpoint & { readonly note: string }): Promise<void> {
    const { authority, timeStampIntervalMs } = this.outside;
    await this.check();
    const name = anchoredName(checkpoint);
    await this.add(name, Buffer.from(checkpoint.note));
    if (authority === null || performance.now() < this.stampAfter) return;
    this.stampAfter = performance.now() + timeStampIntervalMs;
    await this.told(authority.name, async () => {
      const stamp = await authority.stamp(checkpoint.note);
      const path = `${TIME_STAMPS}/${paddedSize(checkpoint.size)}`;
      await this.files.write(path, Buffer.from(checkpoint.note));
      await this.files.write(`${path}.tsr`, stamp);
      await this.add(`${name}.tsr`, stamp);
    });
  }

  private async check(): Promise<void> {
    if (this.isChecked) return;
    this.isChecked = true;
    for (const anchor of this.outside.anchors)
      await this.told(anchor.name, async () => {
        const reason = await anchor.weakness();
        if (reason !== null) this.observer.weak(anchor.name, reason);
      });
  }

  private async add(name: string, content: Uint8Array): Promise<void> {
    await Promise.all(this.outside.anchors.map((anchor) => this.told(anchor.name, () => anchor.add(name, content))));
  }

  private async told(place: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.observer.asked(place, null);
    } catch (error) {
      this.observer.asked(place, error);
    }
  }
}
