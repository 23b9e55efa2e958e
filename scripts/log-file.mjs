// The log file of a program that a command runs. The file's size is limited, and a write never blocks the program. A full disk drops lines; the file
// reports their number when there is space again.
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const FILE_BYTES = 50_000_000;
/** The current file and its predecessors. `.1` is the newest predecessor. */
const FILES = 5;
const TAIL_BYTES = 4_000;
const NEWLINE = 10;
/** A full disk is tried again after this time, so a program's last lines may wait this long. */
const RETRY_MS = 500;

export class LogFile {
  /** The path of the file. */
  file;
  #fileBytes;
  #descriptor;
  #size;
  #tail = Buffer.alloc(0);
  #droppedLines = 0;

  constructor(file, fileBytes = FILE_BYTES) {
    this.file = file;
    this.#fileBytes = fileBytes;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#open();
  }

  /** The last bytes that were written since the start, even if they are not in the file. */
  get tail() {
    return this.#tail.toString();
  }

  /**
   * Writes a program's output. A program that `dropsLines` itself, and counts them, is made to wait while the disk is full. Any other program would
   * block.
   */
  takeFrom(stream, dropsLines) {
    stream.on('data', (chunk) => {
      this.write(chunk);
      if (this.#droppedLines === 0 || !dropsLines) return;
      stream.pause();
      setTimeout(() => stream.resume(), RETRY_MS).unref();
    });
  }

  /** Keeps each line in one file. */
  write(chunk) {
    this.#tail = Buffer.concat([this.#tail, chunk]).subarray(-TAIL_BYTES);
    const lineEnd = this.#size < this.#fileBytes ? 0 : chunk.indexOf(NEWLINE) + 1;
    if (lineEnd > 0) {
      this.#append(chunk.subarray(0, lineEnd));
      this.#rotate();
    }
    this.#append(chunk.subarray(lineEnd));
  }

  #append(bytes) {
    const told =
      this.#droppedLines === 0
        ? bytes
        : Buffer.concat([
            Buffer.from(`\n{"level":"warn","msg":"log lines were dropped","lines":${this.#droppedLines}}\n`),
            bytes,
          ]);
    let written = 0;
    try {
      while (written < told.length) written += writeSync(this.#descriptor, told, written);
      this.#droppedLines = 0;
    } catch {
      this.#droppedLines += bytes.reduce((lines, byte) => (byte === NEWLINE ? lines + 1 : lines), 0);
    }
    this.#size += written;
  }

  /** If the file cannot be renamed, it continues to grow. */
  #rotate() {
    const full = this.#descriptor;
    try {
      for (let age = FILES - 1; age > 0; age--)
        renameIfThere(age === 1 ? this.file : `${this.file}.${age - 1}`, `${this.file}.${age}`);
      this.#open();
      closeSync(full);
    } catch {
      this.#size = 0;
    }
  }

  #open() {
    this.#descriptor = openSync(this.file, 'a', 0o600);
    this.#size = fstatSync(this.#descriptor).size;
  }
}

function renameIfThere(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}
