// A middle name can ask for one of the upstream's numbers (docs/sandbox.md#upstream-codes).

/** When the vendor answers with a number that was asked for. `auth-answers`: to those of a re-authentication. */
export type CodeStep = 'registration' | 'answers' | 'resend' | 'auth' | 'auth-answers' | 'report';

export interface CodeAskedFor {
  readonly step: CodeStep;
  readonly code: number;
}

const ASKING = /^upstream(\d{1,5})(?:at(registration|answers|resend|auth|authanswers|report))?$/i;

/** From here on the numbers are those of the credit file. */
const FIRST_FILE_CODE = 9_000;

/** Null for an ordinary middle name. Where it names no step, the number decides. */
export function codeAskedFor(middleName = ''): CodeAskedFor | null {
  const [, digits, named] = ASKING.exec(middleName.trim()) ?? [];
  if (digits === undefined) return null;
  const code = Number(digits);
  const step = named?.toLowerCase() ?? (code < FIRST_FILE_CODE ? 'registration' : 'report');
  return { step: step === 'authanswers' ? 'auth-answers' : (step as CodeStep), code };
}
