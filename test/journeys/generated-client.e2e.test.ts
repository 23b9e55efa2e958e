// A client generated from the documents drives the journeys of all APIs. `npm run openapi` checks the types of tools/openapi/journeys/.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aRegistration } from '../support/direct.js';
import { Processor } from '../support/processor.js';
import { aPerson, type Credentials, type DemoAccount, Service } from '../support/service.js';

/** Its types need the generated documents, which this test does without. */
const { manageWebhooks, screenOnPage, screenOnServer } = await import(
  join(import.meta.dirname, '../../tools/openapi/journeys/journeys.ts')
);

let service: Service;
let accounts: Credentials['accounts'];
beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
});
afterAll(() => service?.stop());

function integrator({ publishableKey, allowedOrigins, secretKey, apiKey, dashboardTokens }: DemoAccount): object {
  return {
    baseUrl: service.baseUrl,
    origin: allowedOrigins[0],
    publishableKey,
    secretKey,
    apiKey,
    dashboardToken: dashboardTokens.owner,
  };
}

describe('a client that is generated from the documents', () => {
  it('screens a person on a page, takes the payment, and reads, shares and takes back the report', async () => {
    const processor = new Processor(service.sandboxUrl);
    const steps = await screenOnPage(
      integrator(accounts.demo),
      aPerson({ lastName: 'Otptest' }),
      async (clientSecret: string) => {
        await processor.confirm(clientSecret, 'pm_card_visa');
      },
    );
    expect(steps).toEqual([
      'STEP_UP_REQUIRED',
      'INVALID_OTP',
      'VERIFIED',
      'PAYMENT_REQUIRED',
      'SUCCEEDED',
      'COMPLETED',
      'SUCCEEDED',
      'number, number',
      'SHARED',
      'SHARED',
      'REVOKED',
      'PAYROLL',
      'COMPLETED',
      'the same report',
      'REPORT_ALREADY_RELEASED',
    ]);
  });

  it('registers a renter and an agent on the direct API, and links, reads and unlinks the report', async () => {
    const steps = await screenOnServer(
      integrator(accounts.nopay),
      aRegistration({ lastName: 'Otptest' }),
      aRegistration({}),
    );
    expect(steps).toEqual(['true', '422', 'true', 'true', 'no background', 'number', 'string', '422', '278']);
  });

  it('manages a webhook endpoint', async () => {
    const steps = await manageWebhooks(integrator(accounts.unrelated), 'https://127.0.0.1:8443/hooks');
    expect(steps).toEqual(['active', 'whsec_', 'null', 'CONNECTION_FAILED', 'ping', 'another secret', '204', '0']);
  });
});
