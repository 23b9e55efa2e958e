// Opens the adapters of acme, which share one client and its access token.
import type { OpenVendor } from '../../vendor-kit/define-vendor.js';
import { oauth2 } from '../../vendor-kit/http/auth.js';
import { VendorClient } from '../../vendor-kit/http/client.js';
import type { Secret } from '../../kernel/vendor-settings.js';
import { AcmeCreditBureau } from './credit.js';
import { AcmeIdentityVendor } from './identity.js';
import { AcmeIncomeVendor } from './income.js';
import { wordOf } from './problems.js';

export interface AcmeOptions {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly timeoutMs: number;
}

const WORKFLOW = 'tenant_screening';
const MAX_REPORT_BYTES = 2 * 1_024 * 1_024;

export function openAcme({ url, clientId, clientSecret, timeoutMs }: AcmeOptions): OpenVendor {
  const tokenUrl = `${url.replace(/\/+$/, '')}/oauth/token`;
  const client = new VendorClient({
    baseUrl: url,
    timeoutMs,
    auth: oauth2({ tokenUrl, clientId, clientSecret }),
    dialect: { codeOf: wordOf },
    maxAnswerBytes: MAX_REPORT_BYTES,
  });
  return {
    identity: new AcmeIdentityVendor(client, WORKFLOW),
    credit: new AcmeCreditBureau(client),
    income: new AcmeIncomeVendor(client),
    close: () => client.close(),
  };
}
