// `screening resend`: forwards one event of the feed again.
import { pauseFor } from './patience.mjs';
import { Problem, WrongUsage } from './problem.mjs';
import { lineOf } from './listen.mjs';
import { Receiver, secretOf } from './receiver.mjs';
import { addressOf } from './settings.mjs';

export const OPTIONS = { forward: { type: 'string' }, account: { type: 'string' } };

export async function run({ values, words: [sequence, ...others], settings, service, terminal, signal }) {
  if (!/^[1-9]\d{0,14}$/.test(sequence ?? '') || others.length > 0)
    throw new WrongUsage('resend needs the sequence of one event, which is in the line of listen.');
  if (!values.forward) throw new WrongUsage('resend needs --forward with the address of your receiver.');
  const url = addressOf(values.forward, '--forward');
  const query = { after: Number(sequence) - 1, limit: 1, account_id: values.account };
  const [entry] = (await service.get('/v1/events', query, { signal })).data;
  if (entry === undefined) throw new Problem(`The feed has no event with the sequence ${sequence}.`);
  const pause = (ms) => pauseFor(ms, signal);
  const receiver = new Receiver({ url, secret: secretOf(settings.secretKey), warn: terminal.warn, pause });
  const answer = await receiver.deliver(entry);
  terminal.say(lineOf(terminal.time(), entry, answer));
  if (!/^2\d\d$/.test(answer.status)) throw new Problem('The receiver did not take the event.');
}
