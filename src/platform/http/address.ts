// Addresses as callers write them: one text, or a text for each part.
import type { ApiPropertyOptions } from '@nestjs/swagger';

const MAX_TEXT = 255;
const PARTS = ['address', 'city', 'state', 'zip'] as const;

export type Address = string | Readonly<Partial<Record<(typeof PARTS)[number], string>>>;

/** Whether all parts have to be there, or any of them. */
type Needed = 'all' | 'any';

export const ADDRESS_RULES: Readonly<Record<Needed, string>> = {
  all: `must be text of 1 to ${MAX_TEXT} characters, or such texts named address, city, state and zip`,
  any: `must be text of 1 to ${MAX_TEXT} characters, or such texts named address, city, state or zip`,
};

/** For a description of the field. */
export function addressShape(needed: Needed): Pick<ApiPropertyOptions, 'oneOf'> {
  const text = { type: 'string', minLength: 1, maxLength: MAX_TEXT };
  const properties = Object.fromEntries(PARTS.map((part) => [part, text]));
  return { oneOf: [text, { type: 'object', properties, ...(needed === 'all' && { required: [...PARTS] }) }] };
}

export function isAddress(value: unknown, needed: Needed): boolean {
  if (typeof value !== 'object' || value === null) return isText(value);
  const given = PARTS.filter((part) => Object.hasOwn(value, part)).map(
    (part) => (value as Record<string, unknown>)[part],
  );
  return given.length >= (needed === 'all' ? PARTS.length : 1) && given.every(isText);
}

/** Without what else a caller wrote beside the parts. */
export function onlyParts(address: Address): Address {
  if (typeof address === 'string') return address;
  return Object.fromEntries(PARTS.flatMap((part) => (address[part] === undefined ? [] : [[part, address[part]]])));
}

/** In one line. */
export function addressText(address: Address): string {
  return typeof address === 'string' ? address : PARTS.flatMap((part) => address[part] ?? []).join(', ');
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && Array.from(value).length <= MAX_TEXT;
}
