// The changes of an answer, one at a time, for the record of an adapter's behaviour.
import type { Verdict } from './operations.js';
import type { Answer } from './proxy.js';

export interface Change {
  /** The place in the answer, such as `/person/id`. */
  readonly place: string;
  readonly name: string;
  readonly answer: Answer;
}

type Values = readonly (readonly [name: string, value: unknown])[];

const ABSENT = ['absent', undefined] as const;
const STATUSES = [201, 302, 400, 404, 409, 422, 423, 500];
/** Longer lists have entries of one form, so the first entries stand for all. */
const FIRST_ENTRIES = 1;
const MOST_WORDS = 12;

/** `alike`: answers to the same request of other operations. Their words are tried as well. */
export function changesOf(answer: Answer, alike: readonly Answer[]): readonly Change[] {
  const body = parsed(answer.body);
  const statuses = STATUSES.filter((status) => status !== answer.status).map((status) => ({
    place: 'status',
    name: String(status),
    answer: { ...answer, status },
  }));
  if (typeof body !== 'object' || body === null) return statuses;
  const changes = placesOf(body).flatMap(({ path, value, siblings }) =>
    valuesFor(value, siblings, wordsAt(alike, path)).map(([name, instead]) => ({
      place: `/${path.join('/')}`,
      name,
      answer: { ...answer, body: JSON.stringify(withValue(body, path, instead)) },
    })),
  );
  return [...statuses, ...changes];
}

/** The facts of a verdict that are the same in every run. */
export function reasonsOf({
  kind: _kind,
  vendorSession: _session,
  personToken: _token,
  reply: _reply,
  ...facts
}: Verdict): readonly string[] {
  const told: readonly unknown[] = Object.values(facts);
  return told
    .filter(
      (fact) => typeof fact === 'boolean' || (typeof fact === 'string' && /^[A-Za-z][A-Za-z_-]{1,39}$/.test(fact)),
    )
    .map(String);
}

interface Place {
  readonly path: readonly string[];
  readonly value: unknown;
  /** The numbers beside the value and below its parent. */
  readonly siblings: readonly number[];
}

function placesOf(body: object, path: readonly string[] = []): readonly Place[] {
  const members = Array.isArray(body) ? Object.entries(body).slice(0, FIRST_ENTRIES) : Object.entries(body);
  const siblings = [...new Set(numbersIn(body))];
  return members.flatMap(([name, value]: [string, unknown]) => {
    const place = { path: [...path, name], value, siblings };
    return typeof value === 'object' && value !== null ? [place, ...placesOf(value, place.path)] : [place];
  });
}

function numbersIn(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.values(value).flatMap(numbersIn);
}

function valuesFor(value: unknown, siblings: readonly number[], words: readonly string[]): Values {
  if (typeof value === 'string') return [ABSENT, ['null', null], ['a number', 7], ...textsFor(value, words)];
  if (typeof value === 'number') return [ABSENT, ['null', null], ['a text', 'seven'], ...numbersFor(value, siblings)];
  if (typeof value === 'boolean') return [ABSENT, ['null', null], ['the opposite', !value], ['a text', String(value)]];
  if (value === null) return [ABSENT, ['a text', 'seven'], ['a number', 7], ['an object', {}]];
  if (Array.isArray(value)) return [ABSENT, ['null', null], ['an object', {}], ...listsFor(value)];
  return [ABSENT, ['null', null], ['empty', {}], ['a list', []], ['a text', 'seven']];
}

function textsFor(text: string, words: readonly string[]): Values {
  const others = words.filter((word) => word !== text).slice(0, MOST_WORDS);
  return [
    ['empty', ''],
    ['another first character', `!${text.slice(1)}`],
    ['one more at the start', `!${text}`],
    ['one more at the end', `${text}!`],
    ['twice', `${text}${text}`],
    ['without the last', text.slice(0, -1)],
    ['in the other case', text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase()],
    ['very long', 'x'.repeat(5_000)],
    ...others.map((word) => [`"${word}"`, word] as const),
  ];
}

function numbersFor(number: number, siblings: readonly number[]): Values {
  const others = siblings.filter((other) => other !== number).slice(0, MOST_WORDS);
  return [
    ['negative', -1],
    ['zero', 0],
    ['one more', number + 1],
    ['a fraction', 0.5],
    ['very large', 1e17],
    ...others.map((other, at) => [`the number ${at + 1} beside it`, other] as const),
  ];
}

function listsFor(list: readonly unknown[]): Values {
  return [
    ['empty', []],
    ['each entry twice', [...list, ...list]],
    ['in the other order', [...list].reverse()],
    ['without the first', list.slice(1)],
    ['very long', Array.from({ length: 1_100 }, () => list[0] ?? 'seven')],
  ];
}

/** The words of other answers at the same place. */
function wordsAt(answers: readonly Answer[], path: readonly string[]): readonly string[] {
  const told = answers.map(({ body }) => path.reduce<unknown>((at, name) => memberOf(at, name), parsed(body)));
  return [
    ...new Set(told.filter((word) => typeof word === 'string' && /^[a-z][a-z_-]{1,39}$/i.test(word))),
  ].sort() as string[];
}

/** `undefined` removes the member. */
function withValue(body: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const inner = withValue(memberOf(body, name), rest, value);
  if (Array.isArray(body))
    return body.flatMap((entry: unknown, at) => (String(at) !== name ? [entry] : inner === undefined ? [] : [inner]));
  // JSON leaves out a member that is undefined.
  return { ...(body as object), [name]: inner };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
