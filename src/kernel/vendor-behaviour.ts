/**
 * How a test vendor can misbehave on request. `slow`: it answers late. `down`: 503. `reset`: it reads the request and resets the connection.
 * `redirect`: 302 to a page. `garbled`: an answer that is not JSON. `silent`: no answer.
 */
export const VENDOR_BEHAVIOURS = ['slow', 'down', 'reset', 'redirect', 'garbled', 'silent'] as const;
export type VendorBehaviour = (typeof VENDOR_BEHAVIOURS)[number];
