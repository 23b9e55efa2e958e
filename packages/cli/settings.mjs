// The address of the service and the secret key: from the environment, or from the demo keys that `npm start` writes.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Problem } from './problem.mjs';

const KEY = /^sk_(live|test)_[\w-]+$/;

export function readSettings(env, folder) {
  const given = { secretKey: env.SCREENING_SECRET_KEY?.trim(), url: env.SCREENING_URL?.trim() };
  // A key must never reach the address of another source.
  const { secretKey, url } =
    given.secretKey || given.url ? given : readDemo(resolve(folder, env.DATA_DIR?.trim() || '.data'));
  if (!secretKey) throw new Problem('The secret key is missing: set SCREENING_SECRET_KEY too.');
  const [, environment] = KEY.exec(secretKey) ?? [];
  if (!environment) throw new Problem('The secret key must begin with sk_test_ or sk_live_: see SCREENING_SECRET_KEY.');
  if (!url)
    throw new Problem('The address of the service is missing: set SCREENING_URL, such as http://localhost:3000.');
  return { secretKey, environment, url: addressOf(url, 'SCREENING_URL').replace(/\/+$/, '') };
}

export function addressOf(text, name) {
  try {
    const { protocol, href } = new URL(text);
    if (protocol === 'http:' || protocol === 'https:') return href;
  } catch {
    // The sentence below names every wrong address.
  }
  throw new Problem(`${name} must be an address that begins with http:// or https://, and is "${text}".`);
}

function readDemo(folder) {
  const file = join(folder, 'demo-credentials.json');
  try {
    const { baseUrl, accounts } = JSON.parse(readFileSync(file, 'utf8'));
    return { url: baseUrl, secretKey: accounts?.demo?.secretKey };
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR')
      throw new Problem(
        `There is no secret key: set SCREENING_SECRET_KEY, with SCREENING_URL, or set DATA_DIR to the data folder of a service with demo keys (${file} does not exist).`,
      );
    throw new Problem(`The demo keys in ${file} cannot be read (${error.code ?? 'not JSON'}).`);
  }
}
