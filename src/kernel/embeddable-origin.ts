/**
 * Whether a page of this origin can embed the frame. A policy names a scheme, a port, and a host of letters, digits, dots, hyphens and underscores.
 */
export function isEmbeddable(origin: string): boolean {
  return /^https?:\/\/[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?(?::\d{1,5})?$/.test(origin);
}
