// Messages to the page's author in the browser's console. These messages contain no personal data.

export function hint(text: string): void {
  // eslint-disable-next-line no-console -- the console of the browser is where the author of the page looks
  console.warn(`Service: ${text}`);
}

/** A misspelt option would have no effect, and no error would report it. */
export function nameUnknown(names: readonly string[]): void {
  if (names.length > 0) hint(`unknown options: ${names.join(', ')}.`);
}

/** An error for which the page has no listener. */
export function unheard({ code, message }: { readonly code: string; readonly message: string }): void {
  // eslint-disable-next-line no-console -- the author of the page would see an empty element and no reason
  console.error(`Service: ${code}: ${message} (${location.origin})`);
}

export function callbackThrew(name: string, error: unknown): void {
  // eslint-disable-next-line no-console -- the error is the page's own, and is shown as an uncaught one would be
  console.error(`Service: ${name} threw`, error);
}
