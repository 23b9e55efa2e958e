// The import rules of .dependency-cruiser.cjs: the code keeps them, and each is broken by a fixture of its name.
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import type { IConfiguration } from 'dependency-cruiser';

const ROOT = process.cwd();
const FIXTURES = join(ROOT, 'test', 'architecture', 'fixtures');
const { forbidden = [], options = {} } = createRequire(import.meta.url)(
  join(ROOT, '.dependency-cruiser.cjs'),
) as IConfiguration;
const ruleNames = forbidden.map(({ name }) => name ?? '');

async function violationsIn(baseDir: string): Promise<{ rule: string; from: string; to: string }[]> {
  const { enhancedResolveOptions, ...cruiseOptions } = options;
  const { output } = await cruise(
    ['src', 'sandbox'].filter((folder) => existsSync(join(baseDir, folder))),
    { ...cruiseOptions, baseDir, ruleSet: { forbidden }, validate: true },
    enhancedResolveOptions,
    { tsConfig: extractTsConfig(join(ROOT, 'tsconfig.json')) },
  );
  return (output as ICruiseResult).summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
}

describe('the import rules', () => {
  it('are kept by the code', async () => {
    expect(await violationsIn(ROOT)).toEqual([]);
  });

  it('have one fixture each', () => {
    expect(readdirSync(FIXTURES).sort()).toEqual([...ruleNames].sort());
  });

  it.each(ruleNames)('%s is broken by its fixture', async (name) => {
    expect((await violationsIn(join(FIXTURES, name))).map(({ rule }) => rule)).toContain(name);
  });
});
