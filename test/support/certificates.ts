// Makes an authority and its certificates when a test needs them. The keys are elliptic curves, and only Node is used.
import { type KeyObject, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** Names and IPv4 addresses in the certificate. */
  readonly hosts: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = '300a06082a8648ce3d040302';
const RECEIVER = 'Test receiver';
const COMMON_NAME = '0603550403';
const BASIC_CONSTRAINTS = '0603551d13';
const KEY_USAGE = '0603551d0f';
const ALTERNATIVE_NAMES = '0603551d11';

/** Encodes one DER value: its tag, its length and its content. */
function der(tag: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly (Buffer | string)[]): Buffer => der(0x30, ...parts);
const named = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(commonName)))));
const extension = (id: string, content: Buffer): Buffer => sequence(id, '0101ff', der(0x04, content));
const time = (at: Date): Buffer => der(0x17, Buffer.from(`${at.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`));
const pem = (label: string, content: Buffer): string =>
  `-----BEGIN ${label}-----\n${content
    .toString('base64')
    .replaceAll(/(.{64})/g, '$1\n')
    .trim()}\n-----END ${label}-----\n`;

function signed(
  issuer: string,
  issuerKey: KeyObject,
  subject: string,
  publicKey: KeyObject,
  valid: readonly [Date, Date],
  extensions: readonly Buffer[],
): string {
  const content = sequence(
    der(0xa0, '020102'),
    der(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    named(issuer),
    sequence(...valid.map(time)),
    named(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  return pem('CERTIFICATE', sequence(content, ECDSA_WITH_SHA256, der(0x03, '00', sign('sha256', content, issuerKey))));
}

export class CertificateAuthority {
  /** The certificate that a client must trust, as PEM. */
  readonly cert: string;
  private readonly name = `Test authority ${randomBytes(4).toString('hex')}`;
  private readonly key: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.key = privateKey;
    const authority = [extension(BASIC_CONSTRAINTS, sequence('0101ff')), extension(KEY_USAGE, der(0x03, '0106'))];
    this.cert = signed(
      this.name,
      this.key,
      this.name,
      publicKey,
      [new Date(Date.now() - DAY_MS), new Date(Date.now() + DAY_MS)],
      authority,
    );
  }

  issue(options: CertificateOptions): Certificate {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return leaf(this.name, this.key, publicKey, privateKey, options);
  }
}

/** A certificate that no authority signed. */
export function selfSigned(options: CertificateOptions): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return leaf(RECEIVER, privateKey, publicKey, privateKey, options);
}

function leaf(
  issuer: string,
  issuerKey: KeyObject,
  publicKey: KeyObject,
  privateKey: KeyObject,
  options: CertificateOptions,
): Certificate {
  const { hosts, notBefore = new Date(Date.now() - DAY_MS), notAfter = new Date(Date.now() + DAY_MS) } = options;
  const names = hosts.map((host) =>
    isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  );
  const cert = signed(
    issuer,
    issuerKey,
    RECEIVER,
    publicKey,
    [notBefore, notAfter],
    [extension(ALTERNATIVE_NAMES, sequence(...names))],
  );
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
