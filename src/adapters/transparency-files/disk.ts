// The files of the transparency log in a folder on disk.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TransparencyFiles } from '../../ports/transparency-files.js';
import { ReplacedFile, syncPath } from '../durable-files.js';

export class DiskTransparencyFiles extends TransparencyFiles {
  constructor(private readonly folder: string) {
    super();
  }

  override async read(path: string): Promise<Buffer | null> {
    return unlessMissing(readFile(join(this.folder, path)), null);
  }

  override async write(path: string, content: Uint8Array): Promise<void> {
    const file = await this.prepared(path);
    const draft = `${file}.${randomUUID()}`;
    try {
      const handle = await open(draft, 'wx', 0o644);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, file);
    } finally {
      await rm(draft, { force: true });
    }
    await syncPath(dirname(file));
  }

  override async replace(path: string, before: string | null, content: string): Promise<boolean> {
    return new ReplacedFile(await this.prepared(path)).replace(before, content);
  }

  override list(folder: string): Promise<readonly string[]> {
    return unlessMissing(readdir(join(this.folder, folder)), []);
  }

  override async remove(path: string): Promise<void> {
    await rm(join(this.folder, path), { recursive: true, force: true });
  }

  /** The file's path. The names of its folders survive a crash too. */
  private async prepared(path: string): Promise<string> {
    const file = join(this.folder, path);
    const made = await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    for (let folder = dirname(file); made !== undefined && folder.length >= made.length; folder = dirname(folder))
      await syncPath(dirname(folder));
    return file;
  }
}

async function unlessMissing<Value, Missing>(reading: Promise<Value>, missing: Missing): Promise<Value | Missing> {
  try {
    return await reading;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return missing;
    throw error;
  }
}
