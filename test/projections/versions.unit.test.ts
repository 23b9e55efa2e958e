// What is stored of a projection is rebuilt when its version is raised and not otherwise: whoever changes what it makes of an event
// must raise it, or old documents stay beside new ones.
import { expect, it } from '@jest/globals';
import { changedWithoutVersion, currentVersions, recordedVersions } from './versions.js';

it('a projection whose output changes has a new version', () => {
  expect(changedWithoutVersion(recordedVersions(), currentVersions())).toEqual([]);
});

it('what each version makes of the samples is recorded: npm run projections:versions', () => {
  expect(currentVersions()).toEqual(recordedVersions());
});

it('every change of an output is noticed, and a new sample is none', () => {
  const made = (version: number, outputs: Record<string, string>) => ({ one: { version, outputs } });
  expect(changedWithoutVersion(made(1, { A: 'x' }), made(1, { A: 'y', B: 'z' }))).toEqual(['one: A']);
  expect(changedWithoutVersion(made(1, { A: 'x' }), made(2, { A: 'y' }))).toEqual([]);
});
