// A vendor's secret is replaced while the service runs. The adapters read the secret again when the vendor refuses the old one.
import { afterEach, describe, expect, it } from '@jest/globals';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import type { Secret } from '../../../src/kernel/vendor-settings.js';
import { IdvCreditBureau } from '../../../src/vendors/idv/credit.js';
import { IdvIdentityVendor } from '../../../src/vendors/idv/identity.js';
import { StripePaymentProcessor } from '../../../src/vendors/stripe/payment.js';
import { VoieIncomeVendor } from '../../../src/vendors/voie/income.js';
import { type MisbehavingServer, json, misbehavingServer } from '../../support/misbehaving-server.js';
import { ofSession } from '../../support/subjects.js';

interface Called {
  readonly close: () => Promise<void>;
  readonly made: Promise<{ readonly kind: string }>;
}

const call: VendorCall = { attemptId: 'attempt-1', correlationId: 'request-1', environment: 'test', subject: null };
const timeoutMs = 5_000;
let server: MisbehavingServer;

afterEach(() => server.close());

const CALLS: readonly (readonly [string, (baseUrl: string, secret: Secret) => Called])[] = [
  [
    'idv, identity',
    (baseUrl, credential) => {
      const vendor = new IdvIdentityVendor({ baseUrl, credential, timeoutMs });
      return { made: vendor.authenticationStatus(call, 'person'), close: () => vendor.close() };
    },
  ],
  [
    'idv, credit',
    (baseUrl, credential) => {
      const vendor = new IdvCreditBureau({ baseUrl, credential, timeoutMs });
      return { made: vendor.pullReport(call, ofSession('person')), close: () => vendor.close() };
    },
  ],
  [
    'voie',
    (baseUrl, credential) => {
      const vendor = new VoieIncomeVendor({ baseUrl, credential, timeoutMs });
      return { made: vendor.outcomeOf(call, 'inquiry'), close: () => vendor.close() };
    },
  ],
  [
    'stripe',
    (baseUrl, secretKey) => {
      const vendor = new StripePaymentProcessor({ baseUrl, secretKey, timeoutMs });
      return { made: vendor.retrieveIntent(call, 'pi_1'), close: () => vendor.close() };
    },
  ],
];

describe.each(CALLS)('%s', (_vendor, make) => {
  const REFUSED = json(401, { error: { type: 'invalid_request_error', message: 'Wrong key' } });

  it('sends a request again with a replaced secret, and only once with the same one', async () => {
    const secrets = ['old', 'new'];
    server = await misbehavingServer((socket) => void socket.write(REFUSED));
    for (const secret of [() => secrets.shift()!, () => 'same', 'written']) {
      const { made, close } = make(server.url, secret);
      await made;
      await close();
    }
    expect(server.requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer old',
      'Bearer new',
      'Bearer same',
      'Bearer written',
    ]);
  });
});
