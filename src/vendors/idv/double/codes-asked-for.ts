// Finds the vendor's number that a middle name selects (docs/sandbox.md#upstream-codes).

/** The step that answers with the selected number. `auth-answers`: answers in a re-authentication. */
export type CodeStep = 'registration' | 'answers' | 'resend' | 'auth' | 'auth-answers' | 'report';

export interface CodeAskedFor {
  readonly step: CodeStep;
  readonly code: number;
}

const ASKING = /^upstream(\d{1,5})(?:at(registration|answers|resend|auth|authanswers|report))?$/i;

/** Numbers from here on belong to the credit file. */
const FIRST_FILE_CODE = 9_000;

/** Null for an ordinary middle name. If the name selects no step, the number decides the step. */
export function codeAskedFor(middleName = ''): CodeAskedFor | null {
  const [, digits, named] = ASKING.exec(middleName.trim()) ?? [];
  if (digits === undefined) return null;
  const code = Number(digits);
  const step = named?.toLowerCase() ?? (code < FIRST_FILE_CODE ? 'registration' : 'report');
  return { step: step === 'authanswers' ? 'auth-answers' : (step as CodeStep), code };
}
