// The wrapped data keys of all subjects, in slots of a flat file in which a key can be overwritten in place.
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readSync,
  write,
  writeSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { syncFolderNow } from '../durable-files.js';
import { NotAuthentic } from '../../ports/vault.js';
import { decrypt, encrypt, freshBytes } from './aead.js';
import { KEY_BYTES, type MasterKeys, UnknownMasterKey } from './master-keys.js';

/** One byte for the length of the master key's id, 32 for the id, 60 for the wrapped key, then zeros. The size divides a disk sector. */
const SLOT_BYTES = 128;
const WRAPPED_AT = 33;
const WRAPPED_BYTES = 12 + 16 + KEY_BYTES;

const FILE = 'data-keys';
const PURPOSE = 'vault-data-keys';

export interface DataKey {
  readonly slot: number;
  readonly bytes: Uint8Array;
}

/**
 * The keys are not in the database, because LMDB copies a page before it changes the page. The old page keeps its content until LMDB uses it again,
 * perhaps never. In this file, a key has one slot and is destroyed in it. The slot is overwritten and synced before `destroy` answers, and the
 * wrapped key was never stored elsewhere.
 *
 * The guarantee: the bytes are gone from the file as the operating system shows it, from then on and after a crash. The limit: a snapshot or a backup
 * may keep an old copy, which is only as safe as the master key. A flash drive that has moved a block may keep one too. The same holds for a file
 * system that does not write in place (btrfs, ZFS, a data journal).
 */
export class DataKeyFile {
  private constructor(
    private readonly fd: number,
    private readonly directory: string,
    private readonly keys: MasterKeys,
  ) {}

  static open(directory: string, keys: MasterKeys): DataKeyFile {
    const fd = openSync(join(directory, FILE), constants.O_RDWR | constants.O_CREAT, 0o600);
    fsyncSync(fd);
    // A new file is durable only after a sync of its folder.
    syncFolderNow(directory);
    return new DataKeyFile(fd, directory, keys);
  }

  /** Fills unused slots with new keys. Every process sees the keys at once. The keys are durable after `sync`. */
  make(firstSlot: number, count: number): DataKey[] {
    const made = Array.from({ length: count }, (_, index) => ({
      slot: firstSlot + index,
      bytes: freshBytes(KEY_BYTES),
    }));
    const block = Buffer.concat(made.map((key) => this.record(key)));
    for (let done = 0; done < block.length;)
      done += writeSync(this.fd, block, done, block.length - done, firstSlot * SLOT_BYTES + done);
    return made;
  }

  /** Null if the slot holds no key, because it was destroyed or never filled. */
  read(slot: number): DataKey | null {
    return this.opened(slot, this.recordAt(slot));
  }

  /** The slots with a key among `count` slots from the given first slot on, with the master key that each needs. */
  keyIds(firstSlot: number, count: number): { readonly slot: number; readonly keyId: string }[] {
    const block = Buffer.alloc(count * SLOT_BYTES);
    const slots = Math.floor(readSync(this.fd, block, 0, block.length, firstSlot * SLOT_BYTES) / SLOT_BYTES);
    return Array.from({ length: slots }, (_, index) => ({
      slot: firstSlot + index,
      keyId: keyIdIn(block.subarray(index * SLOT_BYTES)),
    })).filter(({ keyId }) => keyId !== '');
  }

  /**
   * Wraps the key of a slot again under the current master key. The slot must not be destroyed at the same time, because the key would be restored. A
   * slot is part of one disk sector and is written at once. A crash therefore leaves either the old or the new content.
   */
  rewrap(slot: number): void {
    const key = this.read(slot);
    if (key !== null) writeSync(this.fd, this.record(key), 0, SLOT_BYTES, slot * SLOT_BYTES);
  }

  /** All writes are on the disk when this returns. */
  sync(): Promise<void> {
    return sync(this.fd);
  }

  syncNow(): void {
    fdatasyncSync(this.fd);
  }

  /** False for a slot without a key, and for a slot that was being overwritten when it was copied. */
  opens(slot: number): boolean {
    try {
      return this.read(slot) !== null;
    } catch (error) {
      if (error instanceof NotAuthentic) return false;
      throw error;
    }
  }

  async copyTo(directory: string): Promise<void> {
    await copyFile(join(this.directory, FILE), join(directory, FILE), constants.COPYFILE_EXCL);
  }

  /** Safe to repeat. */
  async destroy(slot: number): Promise<void> {
    await this.overwrite(Buffer.alloc(SLOT_BYTES), slot * SLOT_BYTES);
  }

  destroyNow(slot: number): void {
    this.clear(slot);
    this.syncNow();
  }

  /** Like `destroyNow`, but the key is destroyed permanently only after `sync`. */
  clear(slot: number): void {
    writeSync(this.fd, Buffer.alloc(SLOT_BYTES), 0, SLOT_BYTES, slot * SLOT_BYTES);
  }

  close(): void {
    closeSync(this.fd);
  }

  private record({ slot, bytes }: DataKey): Buffer {
    const keyId = this.keys.currentId;
    const record = Buffer.alloc(SLOT_BYTES);
    record[0] = keyId.length;
    record.write(keyId, 1, 'latin1');
    encrypt(this.keys.derive(PURPOSE, keyId), context(slot), bytes).copy(record, WRAPPED_AT);
    return record;
  }

  private recordAt(slot: number): Buffer {
    const record = Buffer.alloc(SLOT_BYTES);
    return readSync(this.fd, record, 0, SLOT_BYTES, slot * SLOT_BYTES) < SLOT_BYTES ? Buffer.alloc(SLOT_BYTES) : record;
  }

  private opened(slot: number, record: Buffer): DataKey | null {
    const keyId = keyIdIn(record);
    if (keyId === '') return null;
    try {
      return {
        slot,
        bytes: decrypt(
          this.keys.derive(PURPOSE, keyId),
          context(slot),
          record.subarray(WRAPPED_AT, WRAPPED_AT + WRAPPED_BYTES),
        ),
      };
    } catch (error) {
      // A read during another process's write may return half of the old and half of the new slot.
      const now = this.recordAt(slot);
      if (now.equals(record) || !(error instanceof NotAuthentic || error instanceof UnknownMasterKey)) throw error;
      return this.opened(slot, now);
    }
  }

  private async overwrite(bytes: Buffer, position: number): Promise<void> {
    for (let done = 0; done < bytes.length;)
      done += (await writeAt(this.fd, bytes, done, bytes.length - done, position + done)).bytesWritten;
    await sync(this.fd);
  }
}

const writeAt = promisify(write);
const sync = promisify(fdatasync);

/** Empty if the slot holds no key. */
function keyIdIn(record: Buffer): string {
  return record.toString('latin1', 1, 1 + (record[0] ?? 0));
}

function context(slot: number): string {
  return `data-key/${slot}`;
}
