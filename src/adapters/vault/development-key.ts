// Outside production nobody has to configure a master key: the first start makes one.
import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KEY_BYTES } from './master-keys.js';

/**
 * The text of VAULT_MASTER_KEY in `<directory>/vault-master-key`, made on first use and readable by its owner only. Processes
 * that start at the same time get the same key.
 */
export async function developmentMasterKey(directory: string): Promise<string> {
  const path = join(directory, 'vault-master-key');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`development:${randomBytes(KEY_BYTES).toString('base64')}\n`);
    await file.sync();
    // A link fails when the name is taken, and shows the file whole: the first process wins, the others read its key.
    await link(draft, path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}
