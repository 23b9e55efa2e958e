// The choice among the browsers on the machine.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BROWSERS, findChromium } from '../../../src/adapters/pdf-renderer/chromium-executable.js';

describe('the browser that prints', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'browsers-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function program(path: string): string {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    chmodSync(file, 0o755);
    return file;
  }
  const found = (): string | null => findChromium(null, `${join(root, 'sbin')}:${join(root, 'bin')}`);

  it("is first of all Debian's headless shell, and never the start script of the headless shell", () => {
    program('bin/chromium');
    program('sbin/google-chrome');
    program('bin/chromium-headless-shell');
    const itself = program('lib/chromium/chromium-headless-shell');
    expect(found()).toBe(itself);
    expect(findChromium(null, join(root, 'bin'), BROWSERS)).toBe(join(root, 'bin/chromium'));
  });

  it('is not the headless shell when its start script is not on the path', () => {
    program('lib/chromium/chromium-headless-shell');
    expect(found()).toBeNull();
    program('other/chromium-headless-shell');
    expect(found()).toBeNull();
  });

  it('is Chromium rather than Chrome, and Chrome rather than Edge, in any folder', () => {
    program('sbin/microsoft-edge');
    program('sbin/google-chrome');
    expect(found()).toBe(join(root, 'sbin/google-chrome'));
    const chromium = program('bin/chromium');
    expect(found()).toBe(chromium);
  });

  it('is the configured browser; when this browser cannot be used, the service uses none', () => {
    program('bin/chromium');
    expect(findChromium(program('mine'), join(root, 'bin'))).toBe(join(root, 'mine'));
    expect(findChromium(join(root, 'no-such'), join(root, 'bin'))).toBeNull();
    expect(findChromium(join(root, 'bin'), join(root, 'bin'))).toBeNull();
  });
});
