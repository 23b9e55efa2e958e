// A process that serves a Jest worker and answers its questions. The process starts with the first question and ends
// with the worker.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export class HostProcess {
  #child = null;
  #questions = 0;
  #waiting = new Map();
  #listening = new Map();

  constructor(script, execArgv = [], env = {}) {
    this.script = fileURLToPath(new URL(script, import.meta.url));
    this.execArgv = execArgv;
    this.env = env;
  }

  get running() {
    return this.#child !== null;
  }

  /**
   * Resolves with the answer's `result` or rejects with its `error`. `say` receives all output that belongs to this question, also after
   * the answer.
   */
  ask(question, say) {
    this.#child ??= this.#start();
    const id = ++this.#questions;
    if (say) this.#listening.set(id, say);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.channel.ref();
      this.#child.send({ id, ...question });
    });
  }

  async end() {
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  #start() {
    const child = fork(this.script, [], {
      execArgv: this.execArgv,
      env: this.env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child.on('message', ({ id, said, error, result }) => {
      if (said !== undefined) return this.#listening.get(id)?.(said);
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) child.channel.unref();
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    });
    child.on('exit', (code, signal) => {
      this.#child = null;
      for (const { reject } of this.#waiting.values()) reject(new Error(`${this.script} ended: ${signal ?? code}`));
      this.#waiting.clear();
      this.#listening.clear();
    });
    child.unref();
    child.channel.unref();
    return child;
  }
}
