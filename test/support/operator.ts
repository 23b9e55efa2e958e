// Runs operator commands for tests, in a process that has already loaded the built program. Tests of signals, locks and
// closed pipes need a process of their own. Such tests use `new Program('dist/src/ops/main.js', ...)`.

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both output streams, as a terminal shows them. */
  readonly inOrder: string;
}

/** Runs `ops` with these arguments and this environment. The environment of the tests is not passed on. */
export function runOperatorCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  return (globalThis as unknown as { runOperatorCommand: typeof runOperatorCommand }).runOperatorCommand(args, {
    PATH: process.env['PATH'] ?? '',
    ...env,
  });
}
