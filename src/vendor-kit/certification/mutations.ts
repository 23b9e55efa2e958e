// Changes of one word in an answer.
import type { Role } from '../double/certified-double.js';
import type { Observation } from './laboratory.js';
import type { Answer, Fault } from './proxy.js';

/** The character that replaces a character. A hexadecimal digit stays one. */
const NEXT: Readonly<Record<string, string>> = {
  a: 'b',
  ...Object.fromEntries(Array.from({ length: 10 }, (_, digit) => [String(digit), String((digit + 1) % 10)])),
};
const UNHEARD_OF = 'unheard-of-word';
/** Longer lists have entries of one form, so the first entries stand for all. */
const FIRST_ENTRIES = 1;
const MOST_LEAVES = 60;

export type Path = readonly (string | number)[];

/** The paths of all values in a JSON answer. */
export function leavesOf(body: string): readonly (readonly [path: Path, value: unknown])[] {
  const found: (readonly [Path, unknown])[] = [];
  const walk = (value: unknown, path: Path): void => {
    if (Array.isArray(value)) value.slice(0, FIRST_ENTRIES).forEach((entry, at) => walk(entry, [...path, at]));
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name]);
    else found.push([path, value]);
  };
  walk(parsed(body), []);
  return found.slice(0, MOST_LEAVES);
}

/** The role and the place of each value that the double told. */
export function changesOf(clean: Observation): readonly { readonly role: Role; readonly path: Path }[] {
  const found = clean.requests.flatMap(({ role, answer }) =>
    role === null ? [] : leavesOf(answer?.body ?? '').map(([path]) => ({ role, path })),
  );
  return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()];
}

/** Replaces one value in every answer that has it. */
export function wordChanged(path: Path): Fault {
  return answerChanged(`an unheard-of word at /${path.join('/')}`, (answer) => {
    const value = parsed(answer.body);
    const last = path.at(-1);
    const holder = path.slice(0, -1).reduce<unknown>((at, name) => memberOf(at, name), value);
    if (last === undefined || typeof holder !== 'object' || holder === null || !(last in holder)) return answer;
    (holder as Record<string | number, unknown>)[last] = UNHEARD_OF;
    return { ...answer, body: JSON.stringify(value) };
  });
}

/** Exchanges each id of `known` in an answer for an id of the same form. `onChange` learns of each changed answer. */
export function idsExchanged(known: (id: string) => boolean, onChange: () => void): Fault {
  return answerChanged('the id of another check', (answer) => {
    if (answer.status > 299) return answer;
    let isChanged = false;
    const body = JSON.stringify(parsed(answer.body), (_, value: unknown) => {
      if (typeof value !== 'string' || !known(value)) return value;
      isChanged = true;
      return value.replace(/[a-z0-9](?=[^a-z0-9]*$)/i, (last) => NEXT[last.toLowerCase()] ?? 'a');
    });
    if (!isChanged) return answer;
    onChange();
    return { ...answer, body };
  });
}

export function statusChanged(status: number): Fault {
  return answerChanged(`the status ${status}`, (answer) => ({ ...answer, status }));
}

function answerChanged(name: string, change: (answer: Answer) => Answer): Fault {
  return {
    name,
    async apply({ forward, answer }) {
      answer(change(await forward()));
    },
  };
}

/** The places whose words tell granting answers from other answers. A change of such a word must end the grant. */
export function decidingPaths(granting: readonly Observation[], others: readonly Observation[]): readonly Path[] {
  const [granted, other] = [wordsAt(granting), wordsAt(others)];
  const places = [...granted].filter(([place, words]) => {
    const against = other.get(place);
    return against !== undefined && ![...words].some((word) => against.has(word));
  });
  return places.map(([place]) => JSON.parse(place) as Path);
}

/** The words of the last answers, by their place. */
function wordsAt(observations: readonly Observation[]): ReadonlyMap<string, ReadonlySet<unknown>> {
  const found = new Map<string, Set<unknown>>();
  for (const { requests } of observations)
    for (const [path, value] of leavesOf(requests.at(-1)?.answer?.body ?? ''))
      // The words of a list give reasons, and never the decision.
      if (isWord(value) && path.every((name) => typeof name === 'string'))
        found.set(JSON.stringify(path), (found.get(JSON.stringify(path)) ?? new Set()).add(value));
  return found;
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z][a-z_-]{1,39}$/i.test(value);
}

function memberOf(value: unknown, name: string | number): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[name] : undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
