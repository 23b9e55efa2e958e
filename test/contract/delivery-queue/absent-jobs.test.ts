// Which jobs can be brought back before their time.
import { describe, expect, it } from '@jest/globals';
import { AbsentJobs } from '../../../src/adapters/delivery-queue/absent-jobs.js';

describe('jobs that were put off', () => {
  it('come back in the order in which they went, each once, to the endpoint that they are for', () => {
    const absent = new AbsentJobs(100);
    for (const id of ['1', '2', '3', '2']) absent.add('one', id);
    absent.add('two', '4');
    expect(absent.take('one', 2)).toEqual(['1', '2']);
    expect(absent.take('one', 2)).toEqual(['3']);
    expect([absent.take('one', 2), absent.take('unknown', 2), absent.take('two', 2)]).toEqual([[], [], ['4']]);
  });

  it('are not absent any more when they have come by themselves', () => {
    const absent = new AbsentJobs(100);
    for (const id of ['1', '2']) absent.add('one', id);
    for (const id of ['1', '1', 'unknown']) absent.delete('one', id);
    absent.delete('unknown', '2');
    expect(absent.take('one', 9)).toEqual(['2']);
  });

  it('are forgotten when there are too many, and known again from then on', () => {
    const absent = new AbsentJobs(3);
    for (const id of ['1', '2', '3']) absent.add('one', id);
    absent.delete('one', '2');
    absent.add('two', '4');
    expect(absent.take('one', 1)).toEqual(['1']);
    for (const id of ['5', '6', '7']) absent.add('one', id);
    expect([absent.take('one', 9), absent.take('two', 9)]).toEqual([['6', '7'], []]);
  });
});
