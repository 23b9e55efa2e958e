// Renders Markdown as HTML: the forms that the documents of this repository use, and no others.
// Raw HTML is left out, because the documents use it only for pictures. Empty anchors stay.

/** The address of a link on the page; null: the link becomes plain text. */
export type LinkAddress = (written: string) => string | null;

const FENCE = /^```/;
const ITEM = /^(?:[-*]|\d+\.) +/;
const NUMBERED = /^\d/;
const HEADING = /^(#+) (.*)$/;
const RULE_OF_TABLE = /^\|[-:| ]+$/;

export function htmlOf(markdown: string, addressOf: LinkAddress): string {
  return new Renderer(addressOf).blocks(markdown.split('\n'));
}

class Renderer {
  private readonly ids = new Set<string>();

  constructor(private readonly addressOf: LinkAddress) {}

  blocks(lines: readonly string[]): string {
    const html: string[] = [];
    for (let at = 0; at < lines.length;) {
      const end = endOfBlock(lines, at);
      if (lines[at] !== '') html.push(this.block(lines.slice(at, end)));
      at = end;
    }
    return html.filter((block) => block !== '').join('\n');
  }

  private block(lines: readonly string[]): string {
    const [first = '', second = ''] = lines;
    const [, level, title = ''] = HEADING.exec(first) ?? [];
    if (level !== undefined)
      return `<h${level.length}${this.id(slugOf(title))}>${this.inline(title)}</h${level.length}>`;
    if (FENCE.test(first)) return code(lines.slice(1, -1));
    if (first.startsWith('    ')) return code(lines.map((line) => line.slice(4)));
    if (/^<(?!a )/.test(first)) return '';
    if (ITEM.test(first)) return this.list(lines);
    if (RULE_OF_TABLE.test(second)) return this.table(lines);
    return `<p>${this.inline(lines.map((line) => line.trim().replace(/^> /, '')).join('\n'))}</p>`;
  }

  private list(lines: readonly string[]): string {
    const starts = lines.flatMap((line, index) => (ITEM.test(line) ? [index] : []));
    const items = starts.map((start, index) => {
      const [marker = ''] = ITEM.exec(lines[start] ?? '') ?? [];
      const body = lines.slice(start, starts[index + 1]).map((line) => line.slice(marker.length));
      return `<li>${this.blocks(body).replace(/^<p>([^]*?)<\/p>/, '$1')}</li>`;
    });
    const tag = NUMBERED.test(lines[0] ?? '') ? 'ol' : 'ul';
    return `<${tag}>\n${items.join('\n')}\n</${tag}>`;
  }

  /** A row whose first cell is one word can be linked to. */
  private table([head = '', , ...rows]: readonly string[]): string {
    const cells = (line: string): string[] =>
      line
        .replace(/^\| ?| ?\|$/g, '')
        .split(/ ?(?<!\\)\| ?/)
        .map((cell) => this.inline(cell.replaceAll('\\|', '|')));
    const row = (line: string): string => {
      const [first = '', ...rest] = cells(line);
      const word = first.replace(/<[^>]*>/g, '');
      const id = /^[\w.]+$/.test(word) ? this.id(word) : '';
      return `<tr${id}>${[first, ...rest].map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
    };
    const heads = cells(head).map((cell) => `<th>${cell}</th>`);
    return `<table>\n<tr>${heads.join('')}</tr>\n${rows.map(row).join('\n')}\n</table>`;
  }

  /** The first element of a name has the id. */
  private id(name: string): string {
    if (this.ids.has(name)) return '';
    this.ids.add(name);
    return ` id="${name}"`;
  }

  /** Code spans are taken out first, because nothing in them is Markdown. So are anchors. */
  private inline(text: string): string {
    const spans: string[] = [];
    const marked = text.replace(/`([^`]+)`|<a id="[\w-]+"><\/a>/g, (anchor, span: string | undefined) => {
      spans.push(span === undefined ? anchor : `<code>${escaped(span)}</code>`);
      return `\0${spans.length - 1}\0`;
    });
    return escaped(marked)
      .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, label: string, written: string) => {
        const address = this.addressOf(written);
        return address === null ? label : `<a href="${address}">${label}</a>`;
      })
      .replace(/\*\*([^]+?)\*\*/g, '<b>$1</b>')
      .replace(/(?<![\w*])\*([^*\s][^*]*)\*(?!\w)/g, '<em>$1</em>')
      .replace(/\0(\d+)\0/g, (_, index: string) => spans[Number(index)] ?? '');
  }
}

/** The index of the line after the block. A list goes on over indented lines, and over empty lines before these. */
function endOfBlock(lines: readonly string[], start: number): number {
  const first = lines[start] ?? '';
  const find = (isEnd: (line: string, at: number) => boolean): number => {
    const found = lines.findIndex((line, at) => at > start && isEnd(line, at));
    return found === -1 ? lines.length : found;
  };
  if (first === '' || HEADING.test(first)) return start + 1;
  if (FENCE.test(first)) return find((line) => FENCE.test(line)) + 1;
  if (first.startsWith('    ')) return find((line) => !line.startsWith('    '));
  if (ITEM.test(first))
    return find((line, at) => !goesOn(line === '' ? lines.slice(at).find((later) => later !== '') : line, first));
  return find((line) => line === '' || FENCE.test(line) || /^[-*] /.test(line));
}

function goesOn(line: string | undefined, first: string): boolean {
  if (line === undefined) return false;
  return line.startsWith('  ') || (ITEM.test(line) && NUMBERED.test(line) === NUMBERED.test(first));
}

function code(lines: readonly string[]): string {
  return `<pre><code>${escaped(lines.join('\n'))}\n</code></pre>`;
}

/** As the hosts of repositories name headings, so that the same link works there and here. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

export function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
}
