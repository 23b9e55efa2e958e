// The names that the vaults accept, and the authenticated data that binds a value to its name.
const NAME = /^[\x21-\x7e]{1,200}$/;

export function checkedName(name: string): string {
  if (!NAME.test(name)) throw new TypeError('The vault takes names of 1 to 200 visible ASCII characters.');
  return name;
}

/** Names contain no space, so a subject's entries never mix with those of another subject whose name begins with the same letters. */
export function placeOf(subject: string, entry: string): string {
  return `${checkedName(subject)} ${checkedName(entry)}`;
}

/** Like `valueContext`, for a value outside the vault. */
export function sealContext(subject: string, context: string, keyVersion: number | string): string {
  return `sealed/${checkedName(subject)} ${keyVersion} ${context}`;
}

/** `keyVersion` distinguishes the subject's data key from any other that ever existed in this vault. */
export function valueContext(place: string, keyVersion: number | string): string {
  return `vault/${place} ${keyVersion}`;
}
