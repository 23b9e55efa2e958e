// Asks a process of the service, or the sandbox, whether it answers.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

const ANSWER_WITHIN_MS = 5_000;

/** Host and port for a URL, of a program on this machine that listens on `host`. */
export function localAddress(host, port) {
  if (['0.0.0.0', '::'].includes(host)) return `127.0.0.1:${port}`;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The status of a GET, or undefined while nobody answers. */
export function statusOf(url) {
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    // The certificate is for the public name and is not what is asked here.
    const request = send(url, { rejectUnauthorized: false, timeout: ANSWER_WITHIN_MS, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
    request.end();
  });
}
