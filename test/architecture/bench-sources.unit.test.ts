// Guarantee: the benchmarks can start. The benchmarks are compiled from these folders, and no other suite runs them.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
const { include: folders } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.bench.json'), 'utf8')) as {
  readonly include: readonly string[];
};
const isCompiled = (path: string): boolean => folders.some((folder) => path.startsWith(`${folder}/`));

/** The imports of a file at run time, without imports of types. */
function importedBy(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return [
    ...text.matchAll(/^(?:import|export)(?! type\b)[^'";]*?from '(\.[^']+\.m?js)'|import\('(\.[^']+\.m?js)'\)/gm),
  ].map(([, named, later]) =>
    relative(ROOT, resolve(ROOT, dirname(path), (named ?? later ?? '').replace(/(?<!m)js$/, 'ts'))),
  );
}

it('every file that the benchmarks import is compiled for them', () => {
  const reached = new Set(['test/bench/run.ts', 'test/bench/verifying.ts']);
  for (const path of reached) if (isCompiled(path)) for (const imported of importedBy(path)) reached.add(imported);
  expect(reached.size).toBeGreaterThan(100);
  expect([...reached].filter((path) => !isCompiled(path))).toEqual([]);
});
