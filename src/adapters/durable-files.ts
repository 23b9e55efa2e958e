// Functions that write files. The files survive a crash of the machine when the function has returned.
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Syncs the content of a file, or the names in a folder. Any process may have made the changes. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Windows neither needs nor allows the sync of a folder.
    if (process.platform !== 'win32') throw error;
  } finally {
    await handle.close();
  }
}

/** Syncs the names in a folder. The function is synchronous, because opening a store is synchronous. */
export function syncFolderNow(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes a new file, which only its owner can read. */
export async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A small file that several processes replace as a whole. A reader sees either the whole old content or the whole new content. */
export class ReplacedFile {
  constructor(readonly path: string) {}

  /** Null if no file exists. */
  async read(): Promise<string | null> {
    try {
      return readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Returns false and writes nothing when the content is no longer `before`. The comparison is the last step before the new content replaces it. */
  async replace(before: string | null, content: string): Promise<boolean> {
    // Processes in different containers can have the same process id.
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
