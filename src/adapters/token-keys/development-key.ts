// Outside production nobody has to configure a signing key: the first start makes one.
import { generateKeyPairSync } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../kernel/ids.js';

/**
 * The JWKS in `<directory>/jwt-signing-keys.json`, made on first use and readable by its owner only. Processes that start at
 * the same time get the same key. To rotate, put a new key in front of the list and keep the old one for a token's lifetime.
 */
export async function developmentSigningKeys(directory: string): Promise<string> {
  const path = join(directory, 'jwt-signing-keys.json');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${newId()}`;
  try {
    const existing = await readIfThere(path);
    if (existing !== null) return existing;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] })}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // A link fails when the name is taken, and shows the file whole: the first process wins, the others read its key.
    await link(draft, path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException | null)?.code !== 'EEXIST') throw error;
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
    if ((error as NodeJS.ErrnoException | null)?.code === 'ENOENT') return null;
    throw error;
  }
}
