/** Whether a page of this origin can embed the frame: a policy names a scheme, a host of letters, digits, dots, hyphens and underscores, and a port. */
export function isEmbeddable(origin: string): boolean {
  return /^https?:\/\/[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?(?::\d{1,5})?$/.test(origin);
}
