// What a person may type as a code. Pure.

/** The digits of what was typed or pasted. Null: it is no code of four to eight digits. */
export function codeOf(typed: string): string | null {
  const code = typed.replace(/[\s\p{Pd}\p{Cf}]/gu, '');
  return /^[0-9]{4,8}$/.test(code) ? code : null;
}
