// The audit knows every vault entry that an event promises, so it finds a missing entry.
import 'reflect-metadata';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { VaultPromise } from '../../src/kernel/vault-promise.js';
import { VAULT_KNOWLEDGE } from '../../src/ops/vault-knowledge.js';

const MODULES = join(import.meta.dirname, '../../src/modules');

describe('a file that writes to the vault', () => {
  const files = readdirSync(MODULES, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && /vault\.put\(|keepEntry\(/.test(readFileSync(join(MODULES, path), 'utf8')),
  );

  it('is found by the test', () => {
    expect(files.length).toBeGreaterThanOrEqual(5);
  });

  it.each(files)('%s declares the events that promise its entries, and the audit knows them', async (path) => {
    const exported = Object.values((await import(join(MODULES, path))) as Record<string, unknown>);
    const promises = exported
      .filter(
        (value) =>
          Array.isArray(value) && value.every((each) => typeof (each as Partial<VaultPromise>).place === 'function'),
      )
      .flat() as VaultPromise[];
    expect(promises.length).toBeGreaterThan(0);
    expect(promises.filter((promise) => !VAULT_KNOWLEDGE.promises.includes(promise))).toEqual([]);
  });
});
