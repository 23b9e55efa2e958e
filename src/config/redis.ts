import { isLoopback, type Variables } from './variables.js';
import { urlIn } from '../kernel/url.js';

/** The location of Redis, and the time for which it keeps documents. This class is also the injection token. */
export abstract class RedisSettings {
  abstract readonly url: string;
  /** The milliseconds for which documents are kept after their last event. Replies use the documents while the log cannot be read. */
  abstract readonly documentsKeptForMs: number;
}

export function readRedis(env: Variables): RedisSettings {
  const url = env.text('REDIS_URL');
  if (url === null) env.fault('REDIS_URL', 'must be set (npm start finds or runs a Redis by itself)');
  else if (!/^(rediss?|unix):\/\//.test(url) || urlIn(url) === null)
    env.fault('REDIS_URL', 'must be a redis://, rediss:// or unix:// URL');
  else if (env.production) checkProduction(env, new URL(url));
  const hours = env.number('READ_MODEL_HOURS', 72, { min: env.production ? 2 : 0, max: 8_760 });
  return { url: url ?? '', documentsKeptForMs: hours * 3_600_000 };
}

function checkProduction(env: Variables, { protocol, hostname, password }: URL): void {
  if (protocol === 'unix:' || isLoopback(hostname)) return;
  if (password === '') env.fault('REDIS_URL', 'must have a password in production when the server is on another host');
  // A password with a percent sign that encodes nothing is not URL-encoded, so it is compared as written.
  env.refuseWeak('REDIS_URL', /%(?![\da-f]{2})/i.test(password) ? password : decodeURIComponent(password));
  if (protocol === 'redis:') env.refusePlaintext('REDIS_URL', hostname);
}
