import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DiskCredentialsFile } from '../../../src/adapters/credentials-file/disk.js';

describe('the credentials file on disk', () => {
  let folder: string;
  let file: DiskCredentialsFile;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'credentials-'));
    file = new DiskCredentialsFile(join(folder, 'data', 'demo-credentials.json'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('does not exist until it is made; then it has the content, and only its owner can read it', async () => {
    expect(await file.read()).toBeNull();
    expect(await file.create({ a: 1 })).toBe(true);
    expect(await file.read()).toEqual({ a: 1 });
    expect((await stat(file.path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'data'))).toEqual(['demo-credentials.json']);
  });

  it('is made by one of several simultaneous processes', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, (_, writer) => file.create({ writer })));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await file.read()).toEqual({ writer: made.indexOf(true) });
  });

  it('is replaced as a whole, and only its owner can read it', async () => {
    await file.create({ a: 1 });
    await file.replace({ b: 2 });
    expect(await file.read()).toEqual({ b: 2 });
    expect((await stat(file.path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'data'))).toEqual(['demo-credentials.json']);
  });

  it.each(['', '{"a":', '[1]', 'null', '"text"'])('counts as empty when it holds %j', async (text) => {
    await file.create({});
    await writeFile(file.path, text);
    expect(await file.read()).toEqual({});
  });
});
