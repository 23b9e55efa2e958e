// Each import rule of .dependency-cruiser.cjs has a fixture with the rule's name that breaks the rule.
// `npm run lint:imports` checks the code itself.
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
const tsConfig = extractTsConfig(join(ROOT, 'tsconfig.json'));
const ruleNames = [...new Set(forbidden.map(({ name }) => name ?? ''))];

async function rulesBrokenIn(baseDir: string): Promise<string[]> {
  const { enhancedResolveOptions, ...cruiseOptions } = options;
  const { output } = await cruise(
    ['src', 'sandbox', 'web', 'packages'].filter((folder) => existsSync(join(baseDir, folder))),
    { ...cruiseOptions, baseDir, ruleSet: { forbidden }, validate: true },
    enhancedResolveOptions,
    { tsConfig },
  );
  return (output as ICruiseResult).summary.violations.map(({ rule }) => rule.name);
}

describe('the import rules', () => {
  it('have one fixture each', () => {
    expect(readdirSync(FIXTURES).sort()).toEqual([...ruleNames].sort());
  });

  it.each(ruleNames)('%s is broken by its fixture', async (name) => {
    expect(await rulesBrokenIn(join(FIXTURES, name))).toContain(name);
  });
});
