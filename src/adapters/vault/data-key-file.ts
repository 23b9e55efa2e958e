// The wrapped data keys of all subjects, in slots of a flat file, where a key can be overwritten in place.
import { closeSync, constants, fdatasync, fdatasyncSync, fsyncSync, openSync, readSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { decrypt, encrypt, freshBytes } from './aead.js';
import { KEY_BYTES, type MasterKeys } from './master-keys.js';

/** One byte that counts the characters of the master key's id, the id in 32, the wrapped key in 60; the rest is zero. A multiple of it fills a disk sector. */
const SLOT_BYTES = 128;
const WRAPPED_AT = 33;
const WRAPPED_BYTES = 12 + 16 + KEY_BYTES;

const PURPOSE = 'vault-data-keys';

export interface DataKey {
  readonly slot: number;
  readonly bytes: Uint8Array;
}

/**
 * Why not in the database: LMDB copies a page before it changes it, and the old page keeps what it held until it is used
 * again, perhaps never. Here a key has one place and is destroyed there: the slot is overwritten and synced before
 * `destroy` answers, and nothing else ever held the wrapped key.
 *
 * What that guarantees: the bytes are gone from the file as the operating system shows it, from then on and after a
 * crash. What it cannot: a file system that writes elsewhere instead of in place (btrfs, ZFS, a data journal), a snapshot
 * or a backup, and a flash drive that has moved a block, may keep an old copy, which is only as safe as the master key.
 */
export class DataKeyFile {
  private constructor(
    private readonly fd: number,
    private readonly keys: MasterKeys,
  ) {}

  static open(directory: string, keys: MasterKeys): DataKeyFile {
    const fd = openSync(join(directory, 'data-keys'), constants.O_RDWR | constants.O_CREAT, 0o600);
    fsyncSync(fd);
    syncDirectory(directory);
    return new DataKeyFile(fd, keys);
  }

  /** Fills slots that nobody has used with new keys; durable when it answers. */
  async make(firstSlot: number, count: number): Promise<DataKey[]> {
    const keyId = this.keys.currentId;
    const block = Buffer.alloc(count * SLOT_BYTES);
    const made = Array.from({ length: count }, (_, index) => {
      const slot = firstSlot + index;
      const bytes = freshBytes(KEY_BYTES);
      const at = index * SLOT_BYTES;
      block[at] = keyId.length;
      block.write(keyId, at + 1, 'latin1');
      encrypt(this.keys.derive(PURPOSE, keyId), context(slot), bytes).copy(block, at + WRAPPED_AT);
      return { slot, bytes };
    });
    await this.overwrite(block, firstSlot * SLOT_BYTES);
    return made;
  }

  /** Null when the slot holds no key: destroyed, or never filled. */
  read(slot: number): DataKey | null {
    const record = Buffer.alloc(SLOT_BYTES);
    const length = readSync(this.fd, record, 0, SLOT_BYTES, slot * SLOT_BYTES);
    const idLength = record[0] ?? 0;
    if (length < SLOT_BYTES || idLength === 0) return null;
    const keyId = record.toString('latin1', 1, 1 + idLength);
    return { slot, bytes: decrypt(this.keys.derive(PURPOSE, keyId), context(slot), record.subarray(WRAPPED_AT, WRAPPED_AT + WRAPPED_BYTES)) };
  }

  /** Repeatable. */
  async destroy(slot: number): Promise<void> {
    await this.overwrite(Buffer.alloc(SLOT_BYTES), slot * SLOT_BYTES);
  }

  destroySync(slot: number): void {
    writeSync(this.fd, Buffer.alloc(SLOT_BYTES), 0, SLOT_BYTES, slot * SLOT_BYTES);
    fdatasyncSync(this.fd);
  }

  close(): void {
    closeSync(this.fd);
  }

  private async overwrite(bytes: Buffer, position: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) done += (await writeAt(this.fd, bytes, done, bytes.length - done, position + done)).bytesWritten;
    await sync(this.fd);
  }
}

const writeAt = promisify(write) as (fd: number, buffer: Buffer, offset: number, length: number, position: number) => Promise<{ bytesWritten: number }>;
const sync = promisify(fdatasync);

function context(slot: number): string {
  return `data-key/${slot}`;
}

/** A new file is in its directory for good only once the directory has been synced; Windows needs and allows no such thing. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(directory, constants.O_RDONLY);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
