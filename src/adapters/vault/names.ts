// The names that the vaults take, and the authenticated data that binds a value to its place.
const NAME = /^[\x21-\x7e]{1,200}$/;

export function checkedName(name: string): string {
  if (!NAME.test(name)) throw new TypeError('The vault takes names of 1 to 200 visible ASCII characters.');
  return name;
}

/** Names hold no space, so a subject's places never mix with those of another whose name begins alike. */
export function placeOf(subject: string, entry: string): string {
  return `${checkedName(subject)} ${checkedName(entry)}`;
}

/** As `valueContext`, for a value outside the vault. */
export function sealContext(subject: string, context: string, keyVersion: number | string): string {
  return `sealed/${checkedName(subject)} ${keyVersion} ${context}`;
}

/** `keyVersion` distinguishes the subject's data key from any other that ever existed in this vault. */
export function valueContext(place: string, keyVersion: number | string): string {
  return `vault/${place} ${keyVersion}`;
}
