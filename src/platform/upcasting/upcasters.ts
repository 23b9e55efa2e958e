// Reads old stored shapes as new ones. Every version that was ever stored has a sample in test/unit/upcasting/samples.
import type { RecordedEvent } from '../../kernel/domain-event.js';

/**
 * Turns the data of one stored version into the data of the next version. Pure. An upcaster accepts any event of its version that was ever stored.
 */
export interface Upcaster {
  /** The stored type that it reads, such as `Thing` (the first version) or `Thing.v2`. */
  readonly from: string;
  /** The stored type whose shape it returns. */
  readonly to: string;
  upcast(data: object): object;
}

/** Applies upcasters until none applies. The id, stream, revision, position and metadata stay as stored. */
export class Upcasting {
  private readonly byType: ReadonlyMap<string, Upcaster>;

  constructor(upcasters: readonly Upcaster[]) {
    const byType = new Map<string, Upcaster>();
    for (const upcaster of upcasters) {
      if (byType.has(upcaster.from)) throw new Error(`Two upcasters read ${upcaster.from}`);
      byType.set(upcaster.from, upcaster);
    }
    for (const upcaster of upcasters) {
      const seen = new Set([upcaster.from]);
      for (let next = byType.get(upcaster.to); next; next = byType.get(next.to)) {
        if (seen.has(next.from)) throw new Error(`The upcasters of ${upcaster.from} go in a circle`);
        seen.add(next.from);
      }
    }
    this.byType = byType;
  }

  apply(event: RecordedEvent): RecordedEvent {
    let upcaster = this.byType.get(event.type);
    if (!upcaster) return event;
    let { type, data } = event;
    while (upcaster) {
      data = upcaster.upcast(data);
      type = upcaster.to;
      upcaster = this.byType.get(type);
    }
    return { ...event, type, data };
  }
}
