// ops vendors differences: how the verdicts of shadows differ from those of the vendors that decided.
import { Option, SubCommand } from 'nest-commander';
import { machineTimeOf, type RecordedEvent } from '../kernel/domain-event.js';
import {
  COMPARISONS,
  resultOf,
  vendorComparisons,
  type VendorComparison,
  type VendorComparisonEvent,
} from '../modules/screening/domain/vendor-comparisons.js';
import { EventStore } from '../ports/event-store.js';
import { timeIn } from './operator.js';
import { OperatorCommand } from './operator-command.js';
import { printNone, printRow } from './output.js';

const READ_TOGETHER = 1_000;

interface DifferenceValues {
  readonly vendor?: string;
  readonly since?: Date;
}

interface Pair extends Pick<VendorComparison, 'first' | 'shadow'> {
  count: number;
  /** The newest first. */
  readonly sessions: string[];
}

@SubCommand({
  name: 'differences',
  description: 'Count the pairs of verdicts of shadows and of the vendors that decided, with the sessions that differ',
})
export class VendorDifferencesCommand extends OperatorCommand {
  constructor(private readonly events: EventStore) {
    super();
  }

  @Option({ flags: '--vendor <vendor>', description: 'only this shadow' })
  readVendor(text: string): string {
    return text;
  }

  @Option({ flags: '--since <time>', description: 'only comparisons from this ISO 8601 time on' })
  readSince(text: string): Date {
    return timeIn(text, '--since');
  }

  override async run(_: string[], { vendor, since = new Date(0) }: DifferenceValues = {}): Promise<void> {
    const pairs = new Map<string, Pair>();
    for await (const { sessionId, first, shadow } of this.comparisons(since)) {
      if (vendor !== undefined && shadow.vendor !== vendor) continue;
      const key = JSON.stringify([first, shadow]);
      const pair = pairs.get(key) ?? { first, shadow, count: 0, sessions: [] };
      pairs.set(key, pair);
      pair.count += 1;
      if (resultOf(pair) !== 'agree') pair.sessions.push(sessionId);
    }
    if (pairs.size === 0) printNone('comparisons');
    for (const pair of [...pairs.values()].sort((one, other) => other.count - one.count)) printPair(pair);
  }

  /** The newest first. */
  private async *comparisons(since: Date): AsyncIterable<VendorComparison> {
    const stream = `${vendorComparisons.category}-${COMPARISONS}`;
    let from: number | undefined;
    do {
      const options = { direction: 'backwards', limit: READ_TOGETHER, ...(from !== undefined && { from }) } as const;
      const events = (await this.events.readStream(stream, options)) as RecordedEvent<VendorComparisonEvent>[];
      for (const { metadata, data } of events) {
        if (new Date(machineTimeOf(metadata)) < since) return;
        yield data;
      }
      from = (events.at(-1)?.revision ?? 0) - 1;
    } while (from >= 0);
  }
}

function printPair({ first, shadow, count, sessions }: Pair): void {
  const result = resultOf({ first, shadow });
  printRow(
    { first, shadow, result, count, sessions },
    {
      first: first.vendor,
      verdict: first.verdict,
      shadow: shadow.vendor,
      shadowVerdict: shadow.verdict,
      result,
      count,
      sessions: sessions.join(', '),
    },
  );
}
