// The token of a confirmed person: a name for the vendor's journal, and the personal details of the file, encrypted by the vendor. The journal keeps
// only the name. When the holder destroys the token, the details can therefore not be read any more.
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { RegistrationBody } from './requests.js';

/** The typed data that a report repeats. */
export interface Details {
  readonly name: string;
  /** One line. */
  readonly address: string;
  /** YYYY-MM-DD. */
  readonly bornOn: string;
  /** Absent if the person has no SSN. */
  readonly ssnLastFour?: string;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEPARATOR = '.';

/** Callers accept tokens of 4,000 characters, and texts of 500 in a report. The parts of a name and of an address are therefore shortened. */
const MAX_PART = 60;
const MAX_STREET = 255;
const MAX_STATE = 20;

export class PersonTokens {
  constructor(private readonly key: Buffer) {}

  /** The same details under the same name always give the same token. */
  sealed(name: string, details: Details): string {
    const plain = Buffer.from(JSON.stringify(details));
    const nonce = createHmac('sha256', this.key).update(name).update('\n').update(plain).digest();
    const cipher = createCipheriv(CIPHER, this.key, nonce.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(name));
    const content = Buffer.concat([cipher.update(plain), cipher.final()]);
    const sealed = Buffer.concat([nonce.subarray(0, NONCE_BYTES), cipher.getAuthTag(), content]);
    return name + SEPARATOR + sealed.toString('base64url');
  }

  /** A token without details consists of its name alone. Null for a token that this vendor did not encrypt. */
  opened(token: string): { readonly name: string; readonly details: Details | null } | null {
    const [name = '', text] = token.split(SEPARATOR);
    if (text === undefined) return { name, details: null };
    const sealed = Buffer.from(text, 'base64url');
    if (sealed.length < NONCE_BYTES + TAG_BYTES || name + SEPARATOR + sealed.toString('base64url') !== token)
      return null;
    const decipher = createDecipheriv(CIPHER, this.key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(name))
      .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const plain = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
    try {
      return { name, details: JSON.parse(Buffer.concat([plain, decipher.final()]).toString()) as Details };
    } catch {
      return null;
    }
  }
}

/** The details of valid registration data. */
export function detailsOf({
  firstName,
  middleName,
  lastName,
  dateOfBirth = '',
  ssn = '',
  address,
}: RegistrationBody): Details {
  const { street = '', city = '', state = '', zip = '' } = address ?? {};
  const names = [firstName, middleName, lastName].map((name = '') => cut(name, MAX_PART));
  return {
    name: names.filter((name) => name !== '').join(' '),
    address: `${cut(street, MAX_STREET)}, ${cut(city, MAX_PART)}, ${cut(state, MAX_STATE)} ${zip}`,
    bornOn: `${dateOfBirth.slice(4)}-${dateOfBirth.slice(0, 2)}-${dateOfBirth.slice(2, 4)}`,
    ...(ssn !== '' && { ssnLastFour: ssn.slice(-4) }),
  };
}

function cut(text: string, most: number): string {
  return Array.from(text.trim()).slice(0, most).join('');
}
