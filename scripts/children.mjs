// The processes that a command started: ended in the reverse of the order they were started in, missed when they die by themselves.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { birthOf } from './processes.mjs';
import { Problem } from './problem.mjs';

const LOG_KEPT_BYTES = 20_000_000;
const TAIL_BYTES = 4_000;

export class Children {
  #lock;
  #logDir;
  #started = [];
  #stopping = false;
  #reportDeath;

  /** Rejects with a Problem when a child ends that nobody asked to. */
  death = new Promise((_, reject) => (this.#reportDeath = reject));

  constructor(lock, logDir) {
    this.#lock = lock;
    this.#logDir = logDir;
    // Whoever awaits it is told; before that, nobody needs to be.
    this.death.catch(() => undefined);
  }

  /** Starts a process that writes to `<logDir>/<name>.log` or to the terminal, and waits until `isReady` answers true. */
  async start({ name, file, args, env = process.env, word, toTerminal = false, graceMs, isReady, readyWithinMs }) {
    // A start that was overtaken by a stop goes no further.
    if (this.#stopping) await new Promise(() => undefined);
    const log = toTerminal ? undefined : this.#openLog(name);
    // In a process group of its own, so that Ctrl-C in the terminal reaches only us and the order of stopping is ours.
    const child = spawn(file, args, { env, detached: true, stdio: ['ignore', log?.descriptor ?? 'inherit', log?.descriptor ?? 'inherit'] });
    if (log) closeSync(log.descriptor);
    const ended = new Promise((resolve) => {
      child.on('error', (error) => resolve(`could not be started: ${error.message}`));
      child.on('exit', (code, signal) => resolve(signal ? `was killed by ${signal}` : `ended with exit code ${code}`));
    });
    const record = { name, pid: child.pid, birth: birthOf(child.pid), word };
    this.#started.push({ child, ended, graceMs });
    this.#lock.addChild(record);
    void ended.then((how) => {
      if (!this.#stopping) this.#reportDeath(new Problem(`The ${name} (process ${child.pid ?? 'none'}) ${how}.${tailOf(log)}`));
    });

    const patience = Date.now() + readyWithinMs;
    while (!(await isReady())) {
      if (Date.now() > patience) throw new Problem(`The ${name} was not ready after ${readyWithinMs / 1_000} seconds.${tailOf(log)}`);
      await Promise.race([this.death, delay(100)]);
    }
  }

  /** Ends all of them, the last started first; each gets its time to finish what it is doing. */
  async stop() {
    this.#stopping = true;
    for (const { child, ended, graceMs } of this.#started.reverse()) {
      if (child.pid === undefined) continue;
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(killer);
    }
  }

  #openLog(name) {
    mkdirSync(this.#logDir, { recursive: true, mode: 0o700 });
    const file = join(this.#logDir, `${name}.log`);
    if (existsSync(file) && statSync(file).size > LOG_KEPT_BYTES) renameSync(file, `${file}.1`);
    const descriptor = openSync(file, 'a', 0o600);
    return { file, descriptor, from: statSync(file).size };
  }
}

/** The last lines that this run wrote, so that the reason is on the terminal and not only in a file. */
function tailOf(log) {
  if (!log) return '';
  const { size } = statSync(log.file);
  const from = Math.max(log.from, size - TAIL_BYTES);
  const buffer = Buffer.alloc(size - from);
  const descriptor = openSync(log.file, 'r');
  readSync(descriptor, buffer, 0, buffer.length, from);
  closeSync(descriptor);
  const lines = buffer.toString().trim().split('\n').slice(-12).join('\n');
  return `${lines === '' ? '' : `\n${lines}`}\nIts log: ${log.file}`;
}
