// `screening logs tail`: shows the newest requests of the account, and then each new request.
import { Patience, pauseFor } from './patience.mjs';
import { WrongUsage } from './problem.mjs';

const SHOWN_AT_FIRST = 10;
const EVERY_MS = 1_000;

export const OPTIONS = { status: { type: 'string' }, json: { type: 'boolean' } };

export async function run({ values, service, terminal, signal }) {
  const { status, json = false } = values;
  if (status !== undefined && !/^[1-5]\d\d$/.test(status))
    throw new WrongUsage('--status must be an HTTP status, such as 404.');
  await tail({ service, status, json, terminal, signal });
}

export async function tail({ service, status, json, terminal, signal, pause = pauseFor }) {
  const patience = new Patience({ warn: terminal.warn, signal, pause: (ms) => pause(ms, signal) });
  const read = (after, limit) => service.get('/v1/requests', { status, after, limit }, { signal });
  let page = await read(undefined, SHOWN_AT_FIRST);
  while (page !== null) {
    const { next_after, has_more } = page;
    for (const request of page.data) terminal.say(json ? JSON.stringify(request) : lineOf(request));
    if (!has_more) await pause(EVERY_MS, signal);
    page = await patience.until(() => read(next_after));
  }
}

function lineOf({ at, status, method, route, code, duration_ms, request_id }) {
  return [at, status, method.padEnd(6), route, ...(code === null ? [] : [code]), `${duration_ms} ms`, request_id].join(
    '  ',
  );
}
