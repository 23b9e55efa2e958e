/** Something the service needs cannot be reached or did not answer in time. Told as 503; trying again later makes sense. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
}
