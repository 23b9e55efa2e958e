/** For whom a person is screened, as far as the service knows the word. */
export const END_USER_TYPES = ['INDEPENDENT_OWNER', 'REAL_ESTATE_AGENT', 'PROPERTY_MANAGEMENT'] as const;
export type EndUserType = (typeof END_USER_TYPES)[number];

/** A caller's own word for it; null for one that is none of them. */
export function endUserTypeOf(text: string): EndUserType | null {
  return END_USER_TYPES.find((type) => type === text) ?? null;
}
