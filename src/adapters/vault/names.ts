// What the vaults call things: the names they take, and what the authenticated data of a value says about its place.
const NAME = /^[\x21-\x7e]{1,200}$/;

export function checkedName(name: string): string {
  if (!NAME.test(name)) throw new TypeError('The vault takes names of 1 to 200 visible ASCII characters.');
  return name;
}

/** Names hold no space, so no subject's places run into those of another whose name begins alike. */
export function placeOf(subject: string, entry: string): string {
  return `${checkedName(subject)} ${checkedName(entry)}`;
}

/** As `valueContext`, for what lies outside the vault. */
export function sealContext(subject: string, context: string, keyVersion: number | string): string {
  return `sealed/${checkedName(subject)} ${keyVersion} ${context}`;
}

/** `keyVersion` tells the subject's data key from any other that ever existed in this vault. */
export function valueContext(place: string, keyVersion: number | string): string {
  return `vault/${place} ${keyVersion}`;
}
