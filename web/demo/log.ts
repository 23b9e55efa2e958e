// A list of entries, the newest first.

export interface Entry {
  readonly title: string;
  readonly at: Date;
  readonly detail: unknown;
  /** A further remark for the entry. */
  readonly note?: string;
  /** Replaces the entry before it when both have the same title. Otherwise a callback for every letter would hide the rest. */
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
