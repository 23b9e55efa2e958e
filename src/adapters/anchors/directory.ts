// Checkpoints in a folder, for example on a medium that is written once, or with the append-only attribute of the file system.
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { within } from '../../kernel/with-timeout.js';
import { Anchor } from '../../ports/anchors.js';
import { syncPath } from '../durable-files.js';

/** The folder may be on a network drive that hangs. */
const LIMIT_MS = 10_000;

export class DirectoryAnchor extends Anchor {
  readonly name: string;

  constructor(private readonly folder: string) {
    super();
    this.name = `directory ${folder}`;
  }

  /** Writes in place, because such a folder allows no renames. The name says everything that an interrupted file lacks. */
  override add(name: string, content: Uint8Array): Promise<void> {
    return this.limited(async () => {
      try {
        const handle = await open(join(this.folder, name), 'wx', 0o444);
        try {
          await handle.writeFile(content);
          await handle.sync();
        } finally {
          await handle.close();
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      await syncPath(this.folder);
    });
  }

  override async *names(): AsyncGenerator<string> {
    yield* (await this.limited(() => readdir(this.folder))).sort();
  }

  override read(name: string): Promise<Buffer | null> {
    return this.limited(async () => {
      try {
        return await readFile(join(this.folder, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    });
  }

  /** The attributes of the folder are not visible to every user. */
  override weakness(): Promise<string | null> {
    return Promise.resolve(null);
  }

  private limited<Result>(work: () => Promise<Result>): Promise<Result> {
    return within(LIMIT_MS, work(), () => {
      throw new Error(`${this.folder} took longer than ${LIMIT_MS} ms.`);
    });
  }
}
