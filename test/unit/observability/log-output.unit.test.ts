import { describe, expect, it } from '@jest/globals';
import { LogOutput } from '../../../src/platform/observability/log-output.js';

/** A target that accepts as many bytes as the test says, or fails. */
class Place {
  private readonly taken: Buffer[] = [];
  private next: {
    readonly bytes: Buffer;
    readonly take: (count: number) => void;
    readonly fail: (error: Error) => void;
  } | null = null;

  readonly writeSome = (bytes: Buffer): Promise<number> =>
    new Promise((take, fail) => (this.next = { bytes, take, fail }));

  get text(): string {
    return Buffer.concat(this.taken).toString();
  }

  get isAsked(): boolean {
    return this.next !== null;
  }

  async take(count = Infinity): Promise<void> {
    const { bytes, take } = this.next!;
    this.next = null;
    this.taken.push(bytes.subarray(0, count));
    take(Math.min(count, bytes.length));
    await turns();
  }

  async fail(): Promise<void> {
    const { fail } = this.next!;
    this.next = null;
    fail(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    await turns();
  }
}

const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function outputTo(place: Place, maxWaitingCharacters?: number): { output: LogOutput; dropped: () => number } {
  let dropped = 0;
  return {
    output: new LogOutput(place.writeSome, (lines) => (dropped += lines), maxWaitingCharacters),
    dropped: () => dropped,
  };
}

describe('the output of the log', () => {
  it('writes every line in order, even when the target accepts few bytes at a time', async () => {
    const place = new Place();
    const { output, dropped } = outputTo(place);
    for (const line of ['one\n', 'two\n', 'drei ü\n']) output.write(line);
    while (place.isAsked) await place.take(5);
    output.write('four\n');
    await place.take();
    expect(place.text).toBe('one\ntwo\ndrei ü\nfour\n');
    expect(dropped()).toBe(0);
  });

  it('keeps no more bytes than its limit while the target accepts none, and counts the dropped lines', async () => {
    const place = new Place();
    const { output, dropped } = outputTo(place, 100);
    for (let line = 0; line < 1_000; line++) output.write('123456789\n');
    // The output is writing the first line, and ten lines wait.
    expect(dropped()).toBe(989);
    while (place.isAsked) await place.take();
    expect(place.text).toBe('123456789\n'.repeat(11));
  });

  it('drops and counts the lines that a full disk refuses, and continues in a new line when there is space again', async () => {
    const place = new Place();
    const { output, dropped } = outputTo(place);
    output.write('one\n');
    output.write('two\n');
    output.write('three\n');
    await place.take();
    await place.take(6);
    await place.fail();
    expect(dropped()).toBe(1);
    output.write('four\n');
    await place.fail();
    expect(dropped()).toBe(2);
    output.write('five\n');
    await place.take();
    await place.take();
    expect(place.text).toBe('one\ntwo\nth\nfive\n');
  });

  it('lets a process end although the target accepts nothing', async () => {
    const { output } = outputTo(new Place());
    output.write('last words\n');
    await output.flushed(1);
  });
});
