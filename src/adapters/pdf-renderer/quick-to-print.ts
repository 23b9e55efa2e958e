// Changes a page before it is printed, so that a large page is printed in time.

/** No screen shows the page. Without the style, the layout for a screen before and after the print takes seconds. */
const NO_SCREEN = '@media screen{:root{display:none!important}}';

/** Chromium's time grows with the square of the length of a text that does not fit on its line. */
const WRAPPED = '*{overflow-wrap:anywhere!important;text-wrap-mode:wrap!important}';
const TOO_LONG = 2_000;

const BYTE_ORDER_MARK = '\uFEFF';

/** A page without very long words looks unchanged. `first` is inserted before everything else in the page's head. */
export function quickToPrint(html: string, first = ''): string {
  const at = endOfDoctype(html);
  return `${html.slice(0, at)}${first}<style>${NO_SCREEN}${hasLongWord(html) ? WRAPPED : ''}</style>${html.slice(at)}`;
}

/** Only white space and comments may precede a doctype. After anything else it has no effect. */
function endOfDoctype(html: string): number {
  const leading = /\s*(<!doctype[^>]*>)?/iy;
  for (;;) {
    if (leading.exec(html)?.[1] !== undefined) return leading.lastIndex;
    const end = endOfComment(html, leading.lastIndex);
    if (end === null) return html.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
    leading.lastIndex = end;
  }
}

/** Null if no comment ends. */
function endOfComment(html: string, at: number): number | null {
  // A comment may be as short as `<!-->`.
  if (html.startsWith('<!--', at)) return endOf('-->', html, at + 2);
  return html.startsWith('<?', at) ? endOf('>', html, at) : null;
}

/** Changes only text, because images in tags and style sheets are long words too. The time is proportional to the length of the page. */
function hasLongWord(html: string): boolean {
  let at: number | null = 0;
  while (at !== null) {
    const markup = html.indexOf('<', at);
    const text = html.slice(at, markup === -1 ? undefined : markup);
    if (text.length >= TOO_LONG && text.split(/\s/).some((word) => word.length >= TOO_LONG)) return true;
    at = markup === -1 ? null : endOfMarkup(html, markup);
  }
  return false;
}

/** Null if nothing follows. */
function endOfMarkup(html: string, at: number): number | null {
  if (html.startsWith('<!--', at)) return endOfComment(html, at);
  const [tag, name] = /^<(?:(style|script)\b|[a-z/!?])/i.exec(html.slice(at, at + '<script>'.length)) ?? [];
  if (tag === undefined) return at + 1;
  if (name === undefined) return endOf('>', html, at);
  const closing = /<\/(?:style|script)/gi;
  closing.lastIndex = at;
  return closing.test(html) ? closing.lastIndex : null;
}

function endOf(what: string, html: string, from: number): number | null {
  const found = html.indexOf(what, from);
  return found === -1 ? null : found + what.length;
}
