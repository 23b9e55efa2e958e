// The file that `accounts set --terms` reads: `{ "version": "2026-01", "text": { "en": ["..."], "es": ["..."] } }`.
import { readFileSync } from 'node:fs';
import type { Terms } from '../kernel/terms.js';
import { WrongInput } from './operator.js';

const FORM =
  'must be a JSON file with "version" and "text"; "text" must have paragraphs as "en" and may have some as "es"';

/** Checks only the form of the file. The account's decider checks the paragraphs. */
export function termsIn(path: string, option: string): Terms {
  const content = contentOf(path, option);
  const { version, text } = isObject(content) ? content : {};
  const { en, es } = isObject(text) ? text : {};
  if (typeof version !== 'string' || !areTexts(en) || (es !== undefined && !areTexts(es)))
    throw new WrongInput(`${option} ${FORM}.`);
  return { version, text: { en, ...(es !== undefined && { es }) } };
}

function contentOf(path: string, option: string): unknown {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new WrongInput(`The file of ${option} cannot be read: ${(error as Error).message}.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new WrongInput(`${option} ${FORM}.`);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
