// Operator commands as tests give them: the built program, run in a process that has it loaded already.
// What only a process of its own shows (signals, locks, a closed pipe) is tested with `new Program('dist/src/ops/main.js', ...)`.

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams, as a terminal shows them. */
  readonly inOrder: string;
}

/** Runs `ops` with these arguments and this environment, and nothing of the environment of the tests. */
export function runOperatorCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  return (globalThis as unknown as { runOperatorCommand: typeof runOperatorCommand }).runOperatorCommand(args, {
    PATH: process.env['PATH'] ?? '',
    ...env,
  });
}
