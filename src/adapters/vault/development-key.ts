// Outside production, the master key need not be configured, because the first start makes one.
import { fileMadeOnce } from '../file-made-once.js';
import { freshBytes } from './aead.js';
import { KEY_BYTES } from './master-keys.js';

/** The text of VAULT_MASTER_KEY in `<directory>/vault-master-key`. */
export async function developmentMasterKey(directory: string): Promise<string> {
  return (
    await fileMadeOnce(directory, 'vault-master-key', () => `development:${freshBytes(KEY_BYTES).toString('base64')}\n`)
  ).trim();
}
