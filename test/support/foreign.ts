// Programs of other projects that `npm run test:soak` has installed (scripts/foreign-programs.mjs), on machines that can run them.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe } from '@jest/globals';
import { until } from './eventually.js';

type Name = 'moto' | 'stripe-mock' | 'verify-python' | 'verify-go';

/** The path of the program, or null if it is not installed. */
export function foreign(name: Name): string | null {
  return process.env[`FOREIGN_${name.toUpperCase().replaceAll('-', '_')}`] ?? null;
}

/** A suite that is skipped when the program is not installed. scripts/foreign-programs.mjs reports the skip. */
export function describeForeign(name: Name, what: string, suite: (program: string) => void): void {
  const program = foreign(name);
  (program === null ? describe.skip : describe)(what, () => suite(program ?? ''));
}

/** A server of another project on this machine. This server is ready when a server answers at `url`. */
export class ForeignServer {
  private constructor(private readonly child: ChildProcess) {}

  static async start(program: string, args: readonly string[], url: string): Promise<ForeignServer> {
    const child = spawn(program, args, { stdio: 'ignore' });
    const server = new ForeignServer(child);
    await until(`${program} answers`, async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
      return fetch(url).then(
        () => true,
        () => false,
      );
    });
    return server;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** A delivery as a receiver gets it, and the secret that verifies it. */
export interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** For each library of the program, the names of the test vectors that the library accepts as genuine. */
export function takenBy(
  program: string,
  args: readonly string[],
  vectors: readonly Vector[],
): Record<string, string[]> {
  const { status, stdout, stderr } = spawnSync(program, args, { input: JSON.stringify(vectors), encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, string[]>;
}
