// Files that are there for good once these answer: what a crash of the machine must not take back.
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The content of a file, or the names in a folder, written by any process. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Windows needs and allows no such thing for folders.
    if (process.platform !== 'win32') throw error;
  } finally {
    await handle.close();
  }
}

/** The names in a folder, for opening a store, which is synchronous. */
export function syncFolderNow(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** A file that did not exist, readable by its owner only. */
export async function writeNew(path: string, content: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A small file that several processes replace as a whole. Who reads it sees one whole content or another. */
export class ReplacedFile {
  constructor(readonly path: string) {}

  /** Null when there is none. */
  async read(): Promise<string | null> {
    try {
      return readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** False, and nothing was written, when the content is no longer `before`. It is compared last of all, a moment before the new one takes its place. */
  async replace(before: string | null, content: string): Promise<boolean> {
    // Processes in containers have the same id.
    const fresh = `${this.path}.${randomUUID()}`;
    try {
      await writeNew(fresh, content);
      if ((await this.read()) !== before) return false;
      await rename(fresh, this.path);
    } finally {
      await rm(fresh, { force: true });
    }
    await syncPath(dirname(this.path));
    return true;
  }
}
