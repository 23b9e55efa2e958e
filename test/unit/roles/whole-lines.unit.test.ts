import { PassThrough, Writable } from 'node:stream';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../support/eventually.js';

let passWholeLines: (from: NodeJS.ReadableStream, to: NodeJS.WritableStream) => void;
beforeAll(async () => {
  const script = '../../../scripts/whole-lines.mjs';
  ({ passWholeLines } = (await import(script)) as { passWholeLines: typeof passWholeLines });
});

describe('lines from several processes in one stream', () => {
  it('are not mixed with each other, and an unfinished last line is kept', async () => {
    const to = new PassThrough();
    const [one, other] = [new PassThrough(), new PassThrough()];
    passWholeLines(one, to);
    passWholeLines(other, to);
    one.write('first ');
    other.write('other\nunfinished');
    one.write('half\nsec');
    one.write('ond\n');
    other.destroy();
    let text = '';
    to.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await until('all is written', () => text.length >= 'other\nfirst half\nsecond\nunfinished\n'.length);
    expect(text.split('\n').sort()).toEqual(['', 'first half', 'other', 'second', 'unfinished']);
  });

  it('are not read while the target accepts nothing, and are read again afterwards', async () => {
    let takes: (() => void) | null = null;
    const taken: string[] = [];
    const to = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _encoding, done) => {
        taken.push(chunk.toString());
        takes = done;
      },
    });
    const from = new PassThrough({ highWaterMark: 16 });
    passWholeLines(from, to);
    from.write('one\n');
    await until('the first is being taken', () => taken.length === 1);
    expect(from.isPaused()).toBe(true);
    from.write('two\n');
    // The process that writes receives the signal to wait.
    expect(from.write('a line that is longer than what waits\n')).toBe(false);
    for (let lines = 1; lines < 3; lines++) {
      (takes as (() => void) | null)?.();
      await until('the next is being taken', () => taken.join('').split('\n').length > lines + 1);
    }
    expect(taken.join('')).toBe('one\ntwo\na line that is longer than what waits\n');
  });
});
