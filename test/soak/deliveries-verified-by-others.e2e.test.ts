// Libraries of other projects verify deliveries in the form that a receiver gets. The libraries accept genuine
// deliveries with each valid secret, and refuse altered deliveries.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { CertificateAuthority } from '../support/certificates.js';
import { EndpointOwner, trustFile } from '../support/endpoint-owner.js';
import { until } from '../support/eventually.js';
import { describeForeign, takenBy, type Vector } from '../support/foreign.js';
import { HttpsReceiver, type ReceivedRequest } from '../support/https-receiver.js';
import { Service } from '../support/service.js';

let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
let service: Service;
let vectors: readonly Vector[];
let genuine: readonly string[];

beforeAll(async () => {
  const authority = new CertificateAuthority();
  [receiver, trust] = await Promise.all([HttpsReceiver.start({ authority }), trustFile(authority)]);
  service = await Service.start(
    { WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: trust.file },
    { alone: ['service'] },
  );
  const owner = new EndpointOwner(service, (await service.credentials()).accounts.nopay);
  await owner.register(receiver.url('/nopay'));
  const caller = await service.signIn('nopay');
  await caller.submit({ firstName: 'Zoë' });
  await until('a delivery came', () => receiver.requests.length > 0);
  await owner.rotate(600);
  const before = receiver.requests.length;
  await caller.submit();
  await owner.ping();
  await until('deliveries with both secrets came', () => receiver.requests.length > before + 1);
  const [first, rotated] = [receiver.requests[0], receiver.requests.at(-1)] as [ReceivedRequest, ReceivedRequest];
  const [old, current] = owner.secrets as [string, string];
  const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const of = (name: string, { headers, body }: ReceivedRequest, secret: string, tampered: object = {}): Vector => ({
    name,
    secret,
    body: String(body),
    headers: pick(headers),
    ...tampered,
  });
  const changed = (name: string, value: string): object => ({ headers: { ...pick(first.headers), [name]: value } });
  const right = [
    of('the first delivery', first, old),
    of('a delivery after the rotation, with the new secret', rotated, current),
    of('a delivery after the rotation, with the old secret', rotated, old),
  ];
  genuine = right.map(({ name }) => name);
  const sentAt = Number(pick(first.headers)['webhook-timestamp']);
  vectors = [
    ...right,
    of('another body', first, old, { body: `${String(first.body)} ` }),
    of('another id', first, old, changed('webhook-id', 'another')),
    of('another time', first, old, changed('webhook-timestamp', String(sentAt + 1))),
    of('a time long ago', first, old, changed('webhook-timestamp', String(sentAt - 301))),
    of('no signature', first, old, changed('webhook-signature', 'v1,')),
    of('the secret of another endpoint', first, other),
    of('a delivery before the rotation, with the new secret', first, current),
  ];
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await rm(trust.folder, { recursive: true, force: true });
});

describe('signed deliveries', () => {
  it('are accepted by the npm library exactly when they are genuine', () => {
    const taken = vectors.filter(({ secret, body, headers }) => {
      try {
        new Webhook(secret).verify(body, headers);
        return true;
      } catch {
        return false;
      }
    });
    expect(taken.map(({ name }) => name)).toEqual(genuine);
  });

  describeForeign('verify-python', 'of Python', (python) => {
    it('are accepted by both libraries exactly when they are genuine', () => {
      const program = new URL('../support/verify_webhooks.py', import.meta.url).pathname;
      expect(takenBy(python, [program], vectors)).toEqual({ standardwebhooks: genuine, svix: genuine });
    });
  });

  describeForeign('verify-go', 'of Go', (program) => {
    it('are accepted by both libraries exactly when they are genuine', () => {
      expect(takenBy(program, [], vectors)).toEqual({ standardwebhooks: genuine, svix: genuine });
    });
  });
});

function pick(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  );
}
