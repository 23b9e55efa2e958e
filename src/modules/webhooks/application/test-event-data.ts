import { fieldError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { EVENT_CATALOGUE, type EventType, type FieldRule, type Links } from '../../../published/events.js';

const SAMPLES: Readonly<Record<string, unknown>> = {
  user_type: 'CONSUMER',
  stripe_payment_intent_id: 'pi_test_event',
  amount_cents: 3_500,
  currency: 'usd',
};
/** A text is an id, a time, an address or a word. A sentence, a name of a person or a query does not fit. */
const FORMS = {
  uuid: [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/, 'a UUID in lowercase'],
  'date-time': [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/, 'a time in ISO 8601 UTC'],
  word: [/^[\w-]{1,64}$/, '1 to 64 letters, digits, "_" or "-"'],
} as const;

/**
 * The data of a test event: the given fields, and sample values for the others that every event of the type has. Throws for a field that is not in the
 * catalogue, or has another form. An address comes from the service alone, because receivers trust the addresses in signed events.
 */
export function testEventData(
  type: EventType,
  given: Readonly<Record<string, unknown>>,
  { now, links }: { readonly now: Date; readonly links: Links },
): object {
  const all: Readonly<Record<string, FieldRule>> = EVENT_CATALOGUE[type].fields;
  const fields = Object.entries(all).filter(([, { format }]) => format !== 'uri');
  const names = fields.map(([name]) => name);
  if (!Object.keys(given).every((name) => names.includes(name)))
    throw fieldError('request.invalid', 'test.data', `may have only the fields ${names.join(', ')}`);
  const data: Record<string, unknown> = {};
  for (const [name, rule] of fields) {
    const isGiven = Object.hasOwn(given, name);
    if (rule.optional && !isGiven) continue;
    const value = isGiven ? given[name] : (SAMPLES[name] ?? sampleOf(rule, now));
    const form = brokenForm(rule, value);
    if (form !== null) throw fieldError('request.invalid', 'test.data', `must have ${name} as ${form}`);
    data[name] = value;
  }
  return { ...data, ...addressIn(type, data, links) };
}

function addressIn(type: EventType, data: Readonly<Record<string, unknown>>, links: Links): { report_url?: string } {
  const { session_id, user_type, income_session_id } = data as Readonly<Record<string, string>>;
  if (type === 'screening.completed' && user_type === 'CONSUMER' && session_id !== undefined)
    return { ...(links.reportUrl !== null && { report_url: links.reportUrl(session_id) }) };
  if (type === 'income_report.completed' && income_session_id !== undefined)
    return { ...(links.incomeReportUrl !== null && { report_url: links.incomeReportUrl(income_session_id) }) };
  return {};
}

function sampleOf({ type, format, words = [] }: FieldRule, now: Date): unknown {
  if (type === 'array of strings') return words;
  if (format === 'uuid') return newId();
  return format === 'date-time' ? now.toISOString() : (words[0] ?? 'test_event');
}

/** The form that the value does not have; null when it has the form of the rule. */
function brokenForm({ type, format, words = [], open }: FieldRule, value: unknown): string | null {
  const isKnown = (word: unknown): boolean => words.includes(word as string);
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value) && (value as number) >= 0 ? null : 'a whole number from 0';
    case 'array of strings':
      return Array.isArray(value) && value.every(isKnown) ? null : `a list of ${words.join(', ')}`;
    case 'string':
      if (words.length === 0 || open) return brokenText(format, value);
      return isKnown(value) ? null : `one of ${words.join(', ')}`;
  }
}

function brokenText(format: FieldRule['format'], value: unknown): string | null {
  const [pattern, form] = FORMS[format === undefined || format === 'uri' ? 'word' : format];
  const isRight = typeof value === 'string' && pattern.test(value);
  return isRight && (format !== 'date-time' || !Number.isNaN(Date.parse(value))) ? null : form;
}
