/** The kinds of customers that ask for a screening. */
export const END_USER_TYPES = ['INDEPENDENT_OWNER', 'REAL_ESTATE_AGENT', 'PROPERTY_MANAGEMENT'] as const;
export type EndUserType = (typeof END_USER_TYPES)[number];

/** Reads the caller's own word; null for an unknown word. */
export function endUserTypeOf(text: string): EndUserType | null {
  return END_USER_TYPES.find((type) => type === text) ?? null;
}
