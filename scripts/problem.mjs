// What a person at the terminal can put right: told in one sentence, without a stack trace.

export class Problem extends Error {}

/** Runs a command's main function; a Problem ends it with its sentence and exit code 1, anything else is a bug and keeps its stack. */
export async function runCommand(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Problem ? error.message : error);
    process.exitCode = 1;
  }
}
