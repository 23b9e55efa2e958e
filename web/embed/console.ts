// Messages to the page's author in the browser's console. They hold nothing personal.

export function hint(text: string): void {
  // eslint-disable-next-line no-console -- the console of the browser is where the author of the page looks
  console.warn(`Service: ${text}`);
}

/** A misspelt option would have no effect, and no error would tell so. */
export function nameUnknown(given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0) hint(`unknown options are ignored: ${unknown.join(', ')}.`);
}

/** An error that the page does not listen to. */
export function unheard({ code, message }: { readonly code: string; readonly message: string }): void {
  // eslint-disable-next-line no-console -- the author of the page would see an empty element and no reason
  console.error(`Service: ${code}: ${message} (page: ${location.origin})`);
}

export function callbackThrew(name: string, error: unknown): void {
  // eslint-disable-next-line no-console -- the error is the page's own, and is shown as an uncaught one would be
  console.error(`Service: ${name} threw`, error);
}
