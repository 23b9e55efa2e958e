// Files that are there for good once these answer: what a crash of the machine must not take back.
import { open } from 'node:fs/promises';

/** The content of a file, or the names in a folder, whoever wrote them. */
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
