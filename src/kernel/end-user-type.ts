/** The kinds of customers that request a screening. */
export const END_USER_TYPES = ['INDEPENDENT_OWNER', 'REAL_ESTATE_AGENT', 'PROPERTY_MANAGEMENT'] as const;
export type EndUserType = (typeof END_USER_TYPES)[number];

/** Reads the caller's text; null for an unknown text. */
export function endUserTypeOf(text: string): EndUserType | null {
  return END_USER_TYPES.find((type) => type === text) ?? null;
}
