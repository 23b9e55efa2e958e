// Stored documents are rebuilt only when the version of their projection is raised. A changed output needs a new
// version. Without a new version, old documents would stay among new documents.
import { expect, it } from '@jest/globals';
import { changedWithoutVersion, currentVersions, recordedVersions } from './versions.js';

it('a projection whose output changes has a new version', () => {
  expect(changedWithoutVersion(recordedVersions(), currentVersions())).toEqual([]);
});

it('the outputs of each version are recorded by npm run projections:versions', () => {
  expect(currentVersions()).toEqual(recordedVersions());
});

it('every change of an output is found, and a new sample does not count as a change', () => {
  const made = (version: number, outputs: Record<string, string>) => ({ one: { version, outputs } });
  expect(changedWithoutVersion(made(1, { A: 'x' }), made(1, { A: 'y', B: 'z' }))).toEqual(['one: A']);
  expect(changedWithoutVersion(made(1, { A: 'x' }), made(2, { A: 'y' }))).toEqual([]);
});
