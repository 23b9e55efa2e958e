// A list of what came, the newest first.

export interface Entry {
  readonly title: string;
  readonly at: Date;
  readonly detail: unknown;
  /** What else is worth a line. */
  readonly note?: string;
  /** Takes the place of one of the same title just before it: what is told at every letter would hide the rest. */
  readonly replaces?: boolean;
}

const KEPT = 200;

export class Log {
  private newest: string | null = null;

  constructor(private readonly list: HTMLElement) {}

  add({ title, at, detail, note, replaces = false }: Entry): void {
    if (replaces && this.newest === title) this.list.firstElementChild?.remove();
    this.newest = title;
    const item = document.createElement('li');
    const time = element('time', at.toLocaleTimeString(undefined, { hour12: false }));
    time.dateTime = at.toISOString();
    item.append(element('strong', title), ' ', time, element('code', JSON.stringify(detail)));
    if (note !== undefined) item.append(element('small', note));
    this.list.prepend(item);
    while (this.list.childElementCount > KEPT) this.list.lastElementChild?.remove();
  }

  clear(): void {
    this.newest = null;
    this.list.replaceChildren();
  }
}

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text: string,
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
