// Another process that has opened a vault and carries out the commands of a test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export class OtherProcess {
  private last = 0;
  private readonly asked = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;

  /** `where` is the directory of a vault on disk, or the address of the S3 server. */
  constructor(kind: 'disk' | 's3', where: string, keys: string) {
    const loader = new URL('../../support/typescript.js', import.meta.url).href;
    this.child = spawn(
      process.execPath,
      ['--import', loader, new URL('process.ts', import.meta.url).pathname, kind, where, keys],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, NODE_OPTIONS: '' },
      },
    );
    // A test may kill the process. A command that was sent just before is then not acknowledged.
    this.child.stdin?.on('error', () => undefined);
    const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
    this.ready = once(lines, 'line');
    lines.on('line', (line) => {
      const message = JSON.parse(line) as 'ready' | [number, 'done' | 'failed', unknown];
      if (message === 'ready') return;
      const [id, how, what] = message;
      const asked = this.asked.get(id);
      if (how === 'done') asked?.resolve(what);
      else asked?.reject(Object.assign(new Error(String(what)), { name: String(what) }));
    });
  }

  do(...command: string[]): Promise<unknown> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      this.child.stdin?.write(`${JSON.stringify([id, ...command])}\n`);
    });
  }

  async kill9(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}
