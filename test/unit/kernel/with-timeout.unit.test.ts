import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { limited, within, withTimeout } from '../../../src/kernel/with-timeout.js';

const never = new Promise<string>(() => undefined);
const failed = (): Promise<string> => Promise.reject(new Error('failed'));
const late = (): string => 'late';

describe('a time limit for work', () => {
  it('returns the result of the work, or throws its error, when the work ends in time', async () => {
    expect(await within(60_000, Promise.resolve('done'), late)).toBe('done');
    await expect(within(60_000, failed(), late)).rejects.toThrow('failed');
  });

  it('returns or throws the substitute when the time limit has passed or the signal is aborted', async () => {
    const over = new AbortController();
    const aborted = within(over.signal, never, late);
    over.abort();
    expect([await within(1, never, late), await aborted, await within(over.signal, never, late)]).toEqual([
      'late',
      'late',
      'late',
    ]);
    const refuse = (): never => {
      throw new Error('too late');
    };
    await expect(within(1, never, refuse)).rejects.toThrow('too late');
  });

  it('ignores a later result and a later failure', async () => {
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<string>((_, reject) => (fail = reject));
    expect(await within(1, work, late)).toBe('late');
    fail(new Error('later'));
    await turn();
  });

  it('returns null for a failure when the caller does not need the error', async () => {
    expect([await withTimeout(60_000, failed()), await withTimeout(1, never)]).toEqual([null, null]);
  });

  it('aborts the signal of its work when the time limit has passed, or earlier when its own signal is aborted', async () => {
    const aborted = (limit: AbortSignal): Promise<boolean> => within(limit, never, () => limit.aborted) as never;
    const earlier = new AbortController();
    const told = limited(60_000, earlier.signal, aborted);
    const toldByOneOfTwo = limited(60_000, [new AbortController().signal, earlier.signal], aborted);
    earlier.abort();
    expect([
      await told,
      await toldByOneOfTwo,
      await limited(60_000, earlier.signal, aborted),
      await limited(1, undefined, aborted),
    ]).toEqual([true, true, true, true]);
  });
});
