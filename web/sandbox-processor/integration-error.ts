/** A mistake in the page's use of the library. */
export class IntegrationError extends Error {
  override readonly name = 'IntegrationError';
}
