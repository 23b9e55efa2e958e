// Messages to the page's author in the browser's console. They hold nothing personal.

export function hint(text: string): void {
  // eslint-disable-next-line no-console -- the console of the browser is where the author of the page looks
  console.warn(`Service: ${text}`);
}

export function callbackThrew(name: string, error: unknown): void {
  // eslint-disable-next-line no-console -- the error is the page's own, and is shown as an uncaught one would be
  console.error(`Service: ${name} threw`, error);
}
