// One command at a time may use a data folder. The lock file names that command and every process that it started. If a command was killed, the next
// command can end exactly the processes that were left running.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { birthOf, endProcess, isSameProcess } from './processes.mjs';
import { Problem } from './problem.mjs';

const LEFTOVER_GRACE_MS = 15_000;
/** The time in which a holder notices a stop, or the death of its parent, and records it. */
const NOTICE_MS = 1_000;

export class DataFolderLock {
  #file;
  #content;

  constructor(file, content) {
    this.#file = file;
    this.#content = content;
  }

  /**
   * Takes the folder for this process. Waits for a holder that is already stopping, and otherwise throws a Problem that names the
   * holder.
   * `script` is the name of the running script, as its command line gives it.
   */
  static async take(dataDir, script) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const file = lockFileIn(dataDir);
    const content = {
      pid: process.pid,
      birth: birthOf(process.pid),
      word: script,
      address: null,
      redisUrl: null,
      stopping: false,
      children: [],
    };
    const patience = Date.now() + NOTICE_MS;
    for (;;) {
      const holder = holderOf(dataDir);
      if (holder === undefined) {
        if (createWhole(file, content)) return new DataFolderLock(file, content);
        continue;
      }
      if (isSameProcess(holder)) {
        if (holder.stopping || Date.now() < patience) {
          await delay(50);
          continue;
        }
        const where = holder.address ? ` at ${holder.address}` : '';
        throw new Problem(
          `Already running${where} (${holder.word}, process ${holder.pid}) with the data folder ${dataDir}; stop it first (Ctrl-C there, or kill ${holder.pid}), or set DATA_DIR to another folder.`,
        );
      }
      await endLeftovers(holder);
      removeStale(file, holder);
    }
  }

  set(values) {
    Object.assign(this.#content, values);
    this.#write();
  }

  /** Records a started process. The process that was recorded last is ended first. */
  addChild(child) {
    this.#content.children.unshift(child);
    this.#write();
  }

  release() {
    rmSync(this.#file, { force: true });
  }

  #write() {
    const fresh = `${this.#file}.${process.pid}`;
    try {
      writeFileSync(fresh, JSON.stringify(this.#content, null, 2), { mode: 0o600 });
      renameSync(fresh, this.#file);
    } finally {
      rmSync(fresh, { force: true });
    }
  }
}

/** The command that uses this data folder now, or undefined. */
export function runningIn(dataDir) {
  const holder = holderOf(dataDir);
  return holder !== undefined && isSameProcess(holder) ? holder : undefined;
}

const lockFileIn = (dataDir) => join(dataDir, 'run.json');

function holderOf(dataDir) {
  let text;
  try {
    text = readFileSync(lockFileIn(dataDir), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return { children: [], ...JSON.parse(text), text };
  } catch {
    // Only a power failure leaves half a file, and no process of that run survives a power failure.
    return { pid: 0, word: '', text, children: [] };
  }
}

/** Creates either the whole file or no file, so that a reader never sees an incomplete file. When two processes create it at once, one succeeds. */
function createWhole(file, content) {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(content, null, 2), { mode: 0o600 });
  try {
    linkSync(fresh, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Removes the lock of a dead command. Restores the lock if another command took the folder in the meantime. */
function removeStale(file, stale) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  const taken = readFileSync(aside, 'utf8');
  if (taken !== stale.text) linkSync(aside, file);
  rmSync(aside);
}

async function endLeftovers(holder) {
  for (const child of holder.children) {
    if (!isSameProcess(child)) continue;
    console.error(`Ending the ${child.name} (process ${child.pid}) that an earlier run left behind ...`);
    await endProcess(child, LEFTOVER_GRACE_MS);
  }
}
