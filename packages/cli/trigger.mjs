// `screening trigger`: makes an event happen in the test environment of the account.
import { WrongUsage } from './problem.mjs';

export const OPTIONS = { data: { type: 'string' } };

export async function run({ values, words, settings, service, terminal }) {
  const [type, ...others] = words;
  if (type === undefined || others.length > 0)
    throw new WrongUsage('trigger needs one event type, such as screening.completed.');
  if (settings.environment !== 'test') throw new WrongUsage('trigger needs a test key, which begins with sk_test_.');
  const data = dataOf(values.data);
  const event = await service.post('/v1/test_helpers/events', { type, ...(data && { data }) });
  terminal.say(JSON.stringify(event, null, 2));
}

function dataOf(text) {
  if (text === undefined) return undefined;
  try {
    const data = JSON.parse(text);
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  } catch {
    // The sentence below says what is expected.
  }
  throw new WrongUsage('--data must be a JSON object, such as \'{"session_id": "..."}\'.');
}
