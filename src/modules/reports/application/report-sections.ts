// The sections of a report that a caller may omit, and the bureau's JSON without them.

export const SECTIONS = ['background', 'housingCourt'] as const;
export type Section = (typeof SECTIONS)[number];

/** Keeps every remaining character of the bureau's text, because parsing could change its numbers. `json` is JSON text. */
export function withoutSections(json: string, leftOut: ReadonlySet<Section>): string {
  if (leftOut.size === 0) return json;
  return withMembers(json, (name, value) =>
    name === 'report' ? withMembers(value, (section, own) => (isIn(leftOut, section) ? null : own)) : value,
  );
}

function isIn(sections: ReadonlySet<string>, name: string): boolean {
  return sections.has(name);
}

/** Returns the part of a member's value to keep; null omits the member. */
type Keep = (name: string, value: string) => string | null;

/** The object with the kept members. Any other value stays unchanged. */
function withMembers(json: string, keep: Keep): string {
  const text = json.trim();
  if (!text.startsWith('{')) return json;
  const kept: string[] = [];
  for (const { head, name, value } of membersOf(text)) {
    const rest = keep(name, value);
    if (rest !== null) kept.push(head + rest);
  }
  return `{${kept.join(',')}}`;
}

interface Member {
  /** The member's name as written, up to the value. */
  readonly head: string;
  readonly name: string;
  readonly value: string;
}

function* membersOf(object: string): Generator<Member> {
  let start = 1;
  while (start < object.length) {
    const end = endOf(object, start, ',}');
    const member = object.slice(start, end);
    const colon = endOf(member, 0, ':');
    if (colon < member.length)
      yield {
        head: member.slice(0, colon + 1),
        name: JSON.parse(member.slice(0, colon)) as string,
        value: member.slice(colon + 1),
      };
    start = end + 1;
  }
}

const TOKEN = /"[^"\\]*(?:\\[^][^"\\]*)*"|[[\]{},:]/gu;

/** The first position, from `start` on, of one of the characters outside of strings and nested values. */
function endOf(json: string, start: number, ends: string): number {
  const tokens = new RegExp(TOKEN);
  tokens.lastIndex = start;
  let depth = 0;
  for (let token = tokens.exec(json); token !== null; token = tokens.exec(json)) {
    const [text] = token;
    if (depth === 0 && ends.includes(text)) return token.index;
    if (text === '{' || text === '[') depth += 1;
    else if (text === '}' || text === ']') depth -= 1;
  }
  return json.length;
}
