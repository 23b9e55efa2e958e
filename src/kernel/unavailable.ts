/** A part that the service needs cannot be reached or did not answer in time. Callers get 503 and may try again later. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
}
