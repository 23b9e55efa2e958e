// A certificate for localhost from an authority made at run time. TLS is tested without a key in the repository.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const [BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, OID, UTF8, TIME, SEQUENCE, SET] = [
  0x01, 0x02, 0x03, 0x04, 0x06, 0x0c, 0x18, 0x30, 0x31,
];
const EXPLICIT_0 = 0xa0;
const EXPLICIT_3 = 0xa3;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

const ECDSA_WITH_SHA256 = oid('2a8648ce3d040302');
const COMMON_NAME = oid('550403');
const BASIC_CONSTRAINTS = oid('551d13');
const SUBJECT_ALT_NAME = oid('551d11');

/** PEM texts that are valid for localhost and 127.0.0.1. */
export function selfSignedCertificate(): { readonly key: string; readonly certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from('double')))));
  const validity = der(SEQUENCE, der(TIME, Buffer.from('20200101000000Z')), der(TIME, Buffer.from('21200101000000Z')));
  const yes = der(BOOLEAN, Buffer.of(0xff));
  const authority = der(SEQUENCE, BASIC_CONSTRAINTS, yes, der(OCTET_STRING, der(SEQUENCE, yes)));
  const names = der(SEQUENCE, der(DNS_NAME, Buffer.from('localhost')), der(IP_ADDRESS, Buffer.of(127, 0, 0, 1)));
  const extensions = der(
    EXPLICIT_3,
    der(SEQUENCE, authority, der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, names))),
  );
  const version = der(EXPLICIT_0, der(INTEGER, Buffer.of(2)));
  const serial = der(INTEGER, Buffer.concat([Buffer.of(1), randomBytes(8)]));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const body = der(SEQUENCE, version, serial, algorithm, name, validity, name, key, extensions);
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', body, privateKey));
  const lines =
    der(SEQUENCE, body, algorithm, signature)
      .toString('base64')
      .match(/.{1,64}/gu) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function oid(hex: string): Buffer {
  return der(OID, Buffer.from(hex, 'hex'));
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...header), content]);
}
