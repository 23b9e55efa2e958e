// Programs of others that `npm run test:soak` has installed (scripts/foreign-programs.mjs), where they are to be had.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe } from '@jest/globals';
import { until } from './eventually.js';

type Name = 'moto' | 'stripe-mock' | 'verify-python' | 'verify-go';

/** Where it is; null where it is not to be had. */
export function foreign(name: Name): string | null {
  return process.env[`FOREIGN_${name.toUpperCase().replaceAll('-', '_')}`] ?? null;
}

/** Skipped without the program; what the run says of it comes from scripts/foreign-programs.mjs. */
export function describeForeign(name: Name, what: string, suite: (program: string) => void): void {
  const program = foreign(name);
  (program === null ? describe.skip : describe)(what, () => suite(program ?? ''));
}

/** A server of others on this machine, ready when something answers at `url`. */
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

/** A delivery as a receiver has it, and the secret that it verifies with. */
export interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Names of the vectors that each library of the program takes for genuine. */
export function takenBy(
  program: string,
  args: readonly string[],
  vectors: readonly Vector[],
): Record<string, string[]> {
  const { status, stdout, stderr } = spawnSync(program, args, { input: JSON.stringify(vectors), encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, string[]>;
}
