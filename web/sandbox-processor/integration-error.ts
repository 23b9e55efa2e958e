/** A mistake in how the page uses the library. */
export class IntegrationError extends Error {
  override readonly name = 'IntegrationError';
}
