// Files that the first start makes and every later start reads: the keys of a development installation.
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The text of `<directory>/<name>`, which only its owner can read. `make` makes the text once, even if processes start at the same time. */
export async function fileMadeOnce(directory: string, name: string, make: () => string): Promise<string> {
  const path = join(directory, name);
  const existing = await readIfThere(path);
  if (existing !== null) return existing;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(make());
      await file.sync();
    } finally {
      await file.close();
    }
    // A link fails when the name exists, and shows only whole files. The first process creates the file, and other processes read it.
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    return await readFile(path, 'utf8');
  } finally {
    await rm(draft, { force: true });
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
