// The processes that a command started. This module ends the processes in reverse order, and reports the unexpected end of a process.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LogFile } from './log-file.mjs';
import { birthOf } from './processes.mjs';
import { Problem } from './problem.mjs';

/** The wait for the last output of an ended process. A child of that process may keep the pipe open longer. */
const LAST_LINES_WITHIN_MS = 1_000;

export class Children {
  #lock;
  #logDir;
  #started = [];
  #stopping = false;
  #reportDeath;

  /** Rejects with a Problem when a child ends although the command has not ended it. */
  death = new Promise((_, reject) => (this.#reportDeath = reject));

  constructor(lock, logDir) {
    this.#lock = lock;
    this.#logDir = logDir;
    // A rejection that no caller awaits yet must not end this process.
    this.death.catch(() => undefined);
  }

  /** Starts a process that writes to `<logDir>/<name>.log` or to the terminal. Waits until `isReady` returns true. */
  async start({
    name,
    file,
    args,
    env = process.env,
    word,
    toTerminal = false,
    dropsLines = false,
    graceMs,
    isReady,
    readyWithinMs,
  }) {
    // After a stop, a start that was still running does not continue.
    if (this.#stopping) await new Promise(() => undefined);
    const log = toTerminal ? undefined : new LogFile(join(this.#logDir, `${name}.log`));
    const output = log ? 'pipe' : 'inherit';
    // The child has a process group of its own. Ctrl-C in the terminal then reaches only this process, which decides the order of stopping.
    const child = spawn(file, args, { env, detached: true, stdio: ['ignore', output, output] });
    if (log) for (const stream of [child.stdout, child.stderr]) log.takeFrom(stream, dropsLines);
    const ended = new Promise((resolve) => {
      child.on('error', (error) => resolve(`could not be started: ${error.message}`));
      child.on('exit', (code, signal) => {
        const how = signal ? `was killed by ${signal}` : `ended with exit code ${code}`;
        const late = setTimeout(resolve, LAST_LINES_WITHIN_MS, how);
        child.on('close', () => {
          clearTimeout(late);
          resolve(how);
        });
      });
    });
    const record = { name, pid: child.pid, birth: birthOf(child.pid), word };
    this.#started.push({ child, ended, graceMs });
    this.#lock.addChild(record);
    void ended.then((how) => {
      if (!this.#stopping)
        this.#reportDeath(new Problem(`The ${name} (process ${child.pid ?? 'none'}) ${how}.${tailOf(log)}`));
    });

    const patience = Date.now() + readyWithinMs;
    while (!(await isReady())) {
      if (Date.now() > patience)
        throw new Problem(`The ${name} was not ready after ${readyWithinMs / 1_000} seconds.${tailOf(log)}`);
      await Promise.race([this.death, delay(100)]);
    }
  }

  /** Ends all children, in the reverse order of their start. Each gets time to finish its work. */
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
}

/** The last lines of this run, so that the terminal shows the reason too and not only a file. */
function tailOf(log) {
  if (!log) return '';
  const lines = log.tail.trim().split('\n').slice(-12).join('\n');
  return `${lines === '' ? '' : `\n${lines}`}\nIts log: ${log.file}`;
}
