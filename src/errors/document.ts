// The error catalogue as a page for integrators.
import { ERROR_CODES, type ErrorCode } from '../kernel/error-codes.js';
import { STRING_CODES } from './string-codes.js';

/** `docs/errors.md`, whole. */
export function errorsDocument(): string {
  const rows = (Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => {
    const face = STRING_CODES[code];
    return `| \`${face.code}\` | ${face.status} | ${face.recoverable ? 'yes' : 'no'} | ${ERROR_CODES[code]} | \`${code}\` |`;
  });
  return [
    '# Errors',
    '',
    'Generated from the error catalogue (`npm run docs`); do not edit.',
    '',
    'The string-code doors (`/auth`, `/screening`, `/payments`, `/reports`, `/voie`, `/v1`, `/tsp`) answer every error with',
    '`{ "error": { "code", "message", "field"?, "details"?, "recoverable" } }`. `field` names the first field at fault in documented',
    'order, `details` lists all of them and `message` says what the first must be. A refused submission that has opened a session says its id',
    'as `sessionId` beside `error`. A code may stand for more than one error code of the service, which the last column names.',
    'A reply with status 429 carries `Retry-After` wherever waiting helps. Keep a default branch for codes you do not know.',
    '',
    '| Code | HTTP | Recoverable | When | Inside |',
    '|---|---|---|---|---|',
    ...rows.sort(),
    '',
  ].join('\n');
}
