// Markup that values cannot escape from: every value is escaped, unless this file made it.

/** A piece of markup. */
export class Html {
  constructor(readonly text: string) {}
}

export type Content = string | number | null | Html | readonly Content[];

/** A template whose values are escaped, for element content and quoted attributes. Null adds nothing, and a list adds its items. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(strings.reduce((before, next, index) => before + textOf(values[index - 1] ?? null) + next));
}

function textOf(content: Content): string {
  if (content === null) return '';
  if (content instanceof Html) return content.text;
  return typeof content === 'string' || typeof content === 'number'
    ? escape(String(content))
    : content.map(textOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
