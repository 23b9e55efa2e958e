/** Whether a page of this origin can embed the frame. A policy can name a scheme, a port, and a host of letters, digits, dots, `-` and `_`. */
export function isEmbeddable(origin: string): boolean {
  return /^https?:\/\/[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?(?::\d{1,5})?$/.test(origin);
}
