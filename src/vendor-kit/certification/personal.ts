// The places of personal texts in bodies, which a vendor declares as `personal`.
import type { SeenRequest } from './proxy.js';

/** The place of one text in a body. The entries of a list have one place. */
export interface Text {
  readonly pointer: string;
  readonly value: string;
}

type Change = (pointer: string, value: string) => string;

/** A JSON value, the fields of a form, or the text itself. */
export function bodyOf(text: string, type: string): unknown {
  if (type.includes('x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function textsIn(body: unknown): readonly Text[] {
  const found: Text[] = [];
  changed(body, '', (pointer, value) => {
    found.push({ pointer, value });
    return value;
  });
  return found;
}

/** Texts of requests and answers. */
export function textsOf({ headers, body, answer }: SeenRequest): readonly Text[] {
  const answered = bodyOf(answer?.body ?? '', answer?.headers['content-type'] ?? '');
  return [...textsIn(bodyOf(body, headers['content-type'] ?? '')), ...textsIn(answered)];
}

export function isAt(pointers: readonly string[], place: string): boolean {
  return pointers.some((pointer) => place === pointer || place.startsWith(`${pointer}/`));
}

/** Personal texts keep their form: each letter becomes x, and each digit 1. */
export function withoutPersonal(body: unknown, pointers: readonly string[]): unknown {
  return changed(body, '', (place, value) =>
    isAt(pointers, place) ? value.replaceAll(/\p{L}/gu, 'x').replaceAll(/\d/g, '1') : value,
  );
}

/** The body with changed texts. */
export function changed(body: unknown, place: string, change: Change): unknown {
  if (typeof body === 'string') return change(place, body);
  if (Array.isArray(body)) return body.map((entry) => changed(entry, `${place}/*`, change));
  if (typeof body !== 'object' || body === null) return body;
  const fields = Object.entries(body).map(([name, value]: [string, unknown]) => {
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
    return [name, changed(value, `${place}/${step}`, change)];
  });
  return Object.fromEntries(fields) as unknown;
}
