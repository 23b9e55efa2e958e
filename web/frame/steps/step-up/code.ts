// Reads a typed code. Pure.

/** The digits of a typed or pasted text. Null when the text contains no code of four to eight digits. */
export function codeOf(typed: string): string | null {
  const code = typed.replace(/[\s\p{Pd}\p{Cf}]/gu, '');
  return /^[0-9]{4,8}$/.test(code) ? code : null;
}
