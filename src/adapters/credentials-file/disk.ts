import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JsonObject } from '../../kernel/json.js';
import { newId } from '../../kernel/ids.js';
import { CredentialsFile } from '../../ports/credentials-file.js';

export class DiskCredentialsFile extends CredentialsFile {
  constructor(readonly path: string) {
    super();
  }

  override async read(): Promise<JsonObject | null> {
    const text = await readFile(this.path, 'utf8').catch(missingIsNull);
    if (text === null) return null;
    try {
      const content: unknown = JSON.parse(text);
      return typeof content === 'object' && content !== null && !Array.isArray(content) ? (content as JsonObject) : {};
    } catch (error) {
      if (error instanceof SyntaxError) return {};
      throw error;
    }
  }

  override async create(content: JsonObject): Promise<boolean> {
    const draft = await this.draft(content);
    try {
      await link(draft, this.path);
      return true;
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false;
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }

  override async replace(content: JsonObject): Promise<void> {
    await rename(await this.draft(content), this.path);
  }

  private async draft(content: JsonObject): Promise<string> {
    await mkdir(dirname(this.path), { recursive: true });
    const path = `${this.path}.${newId()}`;
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(content, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    return path;
  }
}

function missingIsNull(error: unknown): null {
  if (isCode(error, 'ENOENT')) return null;
  throw error;
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === code;
}
