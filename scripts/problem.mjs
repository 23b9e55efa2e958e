// A fault that the person at the terminal can correct. The command reports such a fault in one sentence, without a stack trace.

export class Problem extends Error {}

/** Runs a command's main function. A Problem prints its sentence and sets exit code 1. Any other error is a bug and prints its stack. */
export async function runCommand(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Problem ? error.message : error);
    process.exitCode = 1;
  }
}
