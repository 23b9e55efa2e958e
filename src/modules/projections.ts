// All read models, of the modules nothing else: the process that builds them anew has to load so much (see `rebuild-process.ts`).
import type { AnyProjection } from '../ports/projection-store.js';
import { accessKeyProjection } from './accounts/read/access-keys.js';
import { accountProjection } from './accounts/read/accounts.js';
import { unusedDetails } from './accounts/read/unused-details.js';
import { incomeStatus } from './income/read/income-status.js';
import { partyCalls } from './parties/read/party-calls.js';
import { openCheckouts } from './payments/read/open-checkouts.js';
import { openPayments } from './payments/read/open-payments.js';
import { reportShares } from './reports/read/report-shares.js';
import { reportStatus } from './reports/read/report-status.js';
import { reportViews } from './reports/read/report-views.js';
import { screeningStatus } from './screening/read/screening-status.js';
import { deliveryLog } from './webhooks/read/deliveries.js';
import { endpointProjection } from './webhooks/read/endpoints.js';

/** What the modules declare with `Projections`, each once. */
export const PROJECTIONS: readonly AnyProjection[] = [
  accountProjection,
  accessKeyProjection,
  unusedDetails,
  screeningStatus,
  partyCalls,
  openPayments,
  openCheckouts,
  reportStatus,
  reportViews,
  reportShares,
  incomeStatus,
  endpointProjection,
  deliveryLog,
];
