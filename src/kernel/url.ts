/**
 * The URL of the text; null for any other text. On Node 20, `URL.canParse` refuses every name with a letter such as ü once it has been called a few
 * thousand times.
 */
export function urlIn(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
