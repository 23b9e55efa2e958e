// Asks a process of the service, or the sandbox, for its health.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

const ANSWER_WITHIN_MS = 5_000;

/** The host and port, written as in a URL, at which this machine reaches a program that listens on `host`. */
export function localAddress(host, port) {
  if (['0.0.0.0', '::'].includes(host)) return `127.0.0.1:${port}`;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The HTTP status of a GET, or undefined if no answer arrived. */
export async function statusOf(url) {
  return (await answerOf(url))?.status;
}

/** Whether a process answers at all. A process that cannot become ready still answers some requests. */
export async function isAlive(address) {
  return (await statusOf(`${address}/health/live`)) === 200;
}

/** Null if the process is ready; otherwise the reasons, by check. Undefined if no answer arrived. */
export async function whyNotReady(address) {
  const answer = await answerOf(`${address}/health/ready`);
  if (answer === undefined || answer.status === 200) return answer && null;
  try {
    return JSON.parse(answer.text).reasons ?? { process: `It answers ${answer.status}.` };
  } catch {
    return { process: `It answers ${answer.status}.` };
  }
}

function answerOf(url) {
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    // The certificate is for the public name, which does not matter for this check.
    const request = send(url, { rejectUnauthorized: false, timeout: ANSWER_WITHIN_MS, agent: false }, (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode, text: body }),
        () => resolve(undefined),
      );
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
    request.end();
  });
}
