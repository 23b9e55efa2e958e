import { inspect } from 'node:util';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';

const one = randomBytes(32).toString('base64');
const two = randomBytes(32).toString('base64');

describe('master keys', () => {
  it('encrypt with the first key and decrypt with every key', () => {
    const keys = MasterKeys.parse(`new:${two}, old:${one}`);
    expect(keys.currentId).toBe('new');
    expect(keys.derive('sealing', 'old')).toEqual(MasterKeys.parse(`old:${one}`).derive('sealing'));
    expect(keys.derive('sealing')).not.toEqual(keys.derive('sealing', 'old'));
  });

  it('derive a separate key for every purpose', () => {
    const keys = MasterKeys.parse(`a:${one}`);
    expect(keys.derive('sealing')).toHaveLength(32);
    expect(keys.derive('sealing')).toEqual(keys.derive('sealing'));
    expect(keys.derive('sealing')).not.toEqual(keys.derive('idempotency'));
    expect(keys.derive('sealing').toString('base64')).not.toBe(one);
  });

  it('refuse an unknown key', () => {
    expect(() => MasterKeys.parse(`a:${one}`).derive('sealing', 'b')).toThrow("'b' is not among");
  });

  it.each([
    ['nothing', ''],
    ['no id', one],
    ['an empty id', `:${one}`],
    ['an id with a slash', `a/b:${one}`],
    ['31 bytes', `a:${randomBytes(31).toString('base64')}`],
    ['33 bytes', `a:${randomBytes(33).toString('base64')}`],
    ['characters that a decoder would skip', `a:*${one}`],
    ['the same id twice', `a:${one},a:${two}`],
    ['a trailing comma', `a:${one},`],
  ])('refuse %s without repeating the text', (_, text) => {
    let message = '';
    try {
      MasterKeys.parse(text);
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/^InvalidMasterKeys: Key \d of \d /);
    expect(message).not.toContain(one.slice(0, 8));
  });

  it('reveal nothing when they are printed or converted to JSON', () => {
    const keys = MasterKeys.parse(`a:${one}`);
    keys.derive('sealing');
    expect(inspect(keys, { depth: 9, showHidden: true }) + JSON.stringify(keys)).not.toMatch(
      /Buffer|Uint8Array|[A-Za-z0-9+/]{40}/,
    );
  });
});
