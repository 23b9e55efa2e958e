// Addresses as callers write them: one text, or a text for each part.
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { folded, HAS_VISIBLE } from '../../published/folded-text.js';

const MAX_TEXT = 255;
const PARTS = ['address', 'city', 'state', 'zip'] as const;

export type Address = string | Readonly<Partial<Record<(typeof PARTS)[number], string>>>;

/** Whether an address needs all its parts, or only one of them. */
type Needed = 'all' | 'any';

export const ADDRESS_RULES: Readonly<Record<Needed, string>> = {
  all: `must be text of 1 to ${MAX_TEXT} characters, or such texts named address, city, state and zip`,
  any: `must be text of 1 to ${MAX_TEXT} characters, or such texts named address, city, state or zip`,
};

/** The address's shape, for a description of the field. */
export function addressShape(needed: Needed): Pick<ApiPropertyOptions, 'oneOf'> {
  const text = { type: 'string', minLength: 1, maxLength: MAX_TEXT };
  const properties = Object.fromEntries(PARTS.map((part) => [part, text]));
  return {
    oneOf: [
      text,
      { type: 'object', properties, ...(needed === 'all' ? { required: [...PARTS] } : { minProperties: 1 }) },
    ],
  };
}

export function isAddress(value: unknown, needed: Needed): boolean {
  if (typeof value !== 'object' || value === null) return isText(value);
  const given = PARTS.map((part) =>
    Object.hasOwn(value, part) ? (value as Record<string, unknown>)[part] : undefined,
  );
  // An empty part counts as absent if one part is enough.
  const texts = needed === 'all' ? given : given.filter((part) => part !== undefined && part !== '');
  return texts.length > 0 && texts.every(isText);
}

/** The simplified address, without empty parts and without other fields that the caller sent. */
export function onlyParts(address: Address): Address {
  if (typeof address === 'string') return folded(address);
  return Object.fromEntries(PARTS.flatMap((part) => (address[part] ? [[part, folded(address[part])]] : [])));
}

/** The address in one line. */
export function addressText(address: Address): string {
  const parts = onlyParts(address);
  return typeof parts === 'string' ? parts : Object.values(parts).join(', ');
}

function isText(value: unknown): boolean {
  const text = typeof value === 'string' ? folded(value) : '';
  return HAS_VISIBLE.test(text) && Array.from(text).length <= MAX_TEXT;
}
