// The journeys of integrators, driven by a client that is generated from the documents alone. A cast anywhere would hide a fault of them.
import createClient from 'openapi-fetch';
import type { paths as DashboardPaths } from '../generated/dashboard.js';
import type { components as DirectSchemas, paths as DirectPaths } from '../generated/direct.js';
import type { components, paths as PlatformPaths } from '../generated/platform.js';
import type { paths as ServerPaths } from '../generated/server.js';

/** An integrator knows the address of the service, its own keys, and the origin of its pages. */
export interface Integrator {
  readonly baseUrl: string;
  readonly origin: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  readonly apiKey: string;
  readonly dashboardToken: string;
}

type Submission = components['schemas']['SubmitBody'];
type Registration = DirectSchemas['schemas']['RegistrationBody'];

/** The body of a success; an error otherwise. */
function given<Body>({ data, error, response }: { data?: Body; error?: unknown; response: Response }): Body {
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

/** From the token to the taken back share. `pay` acts as the library of the payment processor. Returns the words of each step. */
export async function screenOnPage(
  { baseUrl, origin, publishableKey, secretKey }: Integrator,
  person: Submission,
  pay: (clientSecret: string) => Promise<void>,
): Promise<string[]> {
  const server = createClient<ServerPaths, 'application/json'>({ baseUrl, headers: { 'x-secret-key': secretKey } });
  const grant = given(await server.POST('/v1/sessions', { body: { user_type: 'CONSUMER', external_id: 'unit-4b' } }));
  const exchange = createClient<PlatformPaths, 'application/json'>({
    baseUrl,
    headers: { 'x-publishable-key': publishableKey, origin },
  });
  const { token } = given(
    await exchange.POST('/auth/token/exchange', { params: { header: { 'X-Session-Token': grant.token } } }),
  );
  const page = createClient<PlatformPaths, 'application/json'>({
    baseUrl,
    headers: { authorization: `Bearer ${token}`, origin },
  });
  const steps: string[] = [];

  const { price } = given(await page.GET('/screening/options'));
  const submitted = given(
    await page.POST('/screening/submit', { body: person, params: { header: { 'Idempotency-Key': 'submit-1' } } }),
  );
  steps.push(submitted.status);
  const { id } = submitted;
  const wrong = await page.POST('/screening/{id}/otp', { params: { path: { id } }, body: { code: 'abc' } });
  // The type of the code has the codes of this operation only.
  if (wrong.error?.error.code === 'INVALID_OTP') steps.push(wrong.error.error.code);
  const answered = given(
    await page.POST('/screening/{id}/otp', { params: { path: { id } }, body: { code: '123456' } }),
  );
  steps.push(answered.status);

  const unpaid = await page.GET('/reports/{id}', { params: { path: { id } } });
  if (unpaid.error !== undefined) steps.push(unpaid.error.error.code);
  const intent = given(
    await page.POST('/payments/create-intent', { body: { amount: price?.amount ?? 0, screeningId: id } }),
  );
  await pay(intent.client_secret);
  const path = { transactionId: intent.transaction_id };
  steps.push(given(await page.POST('/payments/{transactionId}/confirm', { params: { path } })).status);
  const status = given(await page.GET('/screening/{id}/status', { params: { path: { id } } }));
  switch (status.overallStatus) {
    case 'COMPLETED':
    case 'PAYMENT_PENDING':
      steps.push(status.overallStatus, status.paymentStatus);
      break;
    default:
      throw new Error(status.overallStatus);
  }

  const { score, report } = given(
    await page.GET('/reports/{id}', { params: { path: { id } }, headers: { accept: 'application/json' } }),
  );
  const balances = report.tradeLines.map(({ balanceCents }) => balanceCents);
  steps.push(
    `${score === null ? 'no score' : typeof score.value}, ${typeof balances.reduce((sum, one) => sum + one, 0)}`,
  );
  steps.push(given(await page.POST('/reports/{id}/consent-to-share', { params: { path: { id } } })).status);
  steps.push(given(await page.GET('/reports/{id}/sharing', { params: { path: { id } } })).status);
  steps.push(given(await page.POST('/reports/{id}/revoke-sharing', { params: { path: { id } } })).status);

  const income = given(await page.POST('/voie/sessions', { body: { screening_session_id: id, routes: ['PAYROLL'] } }));
  steps.push(
    given(await page.GET('/voie/sessions/{id}/status', { params: { path: { id: income.income_session_id } } })).route,
  );

  const seen = given(await server.GET('/v1/screenings/{session_id}/status', { params: { path: { session_id: id } } }));
  steps.push(seen.overall_status);
  const ofServer = given(
    await server.GET('/v1/reports/{session_id}', {
      params: { path: { session_id: id } },
      headers: { accept: 'application/json' },
    }),
  );
  steps.push(ofServer.report.consumer.name === report.consumer.name ? 'the same report' : 'another report');
  const refund = await server.POST('/v1/payments/{transaction_id}/refund', {
    params: { path: { transaction_id: intent.transaction_id } },
    body: { reason: 'duplicate' },
  });
  if (refund.error !== undefined) steps.push(refund.error.error.code);
  return steps;
}

/** Registers a renter and an agent, links the report and reads it. */
export async function screenOnServer(
  { baseUrl, apiKey }: Integrator,
  renter: Registration,
  agent: Registration,
): Promise<string[]> {
  const api = createClient<DirectPaths, 'application/json'>({ baseUrl, headers: { 'x-api-key': apiKey } });
  const steps: string[] = [];
  const renterId = `renter-${Date.now()}`;
  const agentId = `agent-${Date.now()}`;
  const registered = given(
    await api.POST('/api/idv/renters/{renterId}', { params: { path: { renterId } }, body: renter }),
  );
  steps.push(String(registered.payload?.otpEnabled));
  const wrong = await api.POST('/api/idv/renters/{renterId}/otp', {
    params: { path: { renterId } },
    body: { code: '000000' },
  });
  steps.push(String(wrong.response.status));
  const right = given(
    await api.POST('/api/idv/renters/{renterId}/otp', { params: { path: { renterId } }, body: { code: '123456' } }),
  );
  steps.push(String(right.payload?.userAuthenticated));
  given(await api.POST('/api/idv/agents/{agentId}', { params: { path: { agentId } }, body: agent }));

  const path = { recipientId: agentId, renterId };
  const unitAddress = { address: '1 Main Street', city: 'San Francisco', state: 'CA', zip: '94105' };
  const linked = given(
    await api.PUT('/api/idv/agents/{recipientId}/renters/{renterId}', { params: { path }, body: { unitAddress } }),
  );
  steps.push(String(linked.payload.success));
  const read = given(
    await api.GET('/api/idv/agents/{recipientId}/renters/{renterId}/report', {
      params: { path, query: { format: 'json', excludeBackground: true } },
    }),
  );
  steps.push(read.payload.report.background === undefined ? 'no background' : 'background');
  const { payload } = given(
    await api.GET('/api/idv/agents/{recipientId}/renters/{renterId}/credit-score', { params: { path } }),
  );
  steps.push(typeof payload.creditScore);
  const expiry = given(await api.GET('/api/idv/renters/{renterId}/report-expiry', { params: { path: { renterId } } }));
  steps.push(typeof expiry.payload.tokenExpiration);
  given(await api.DELETE('/api/idv/agents/{recipientId}/renters/{renterId}', { params: { path } }));
  const unlinked = await api.GET('/api/idv/agents/{recipientId}/renters/{renterId}/report', {
    params: { path, query: { format: 'json' } },
  });
  if (unlinked.error !== undefined) steps.push(String(unlinked.response.status));
  const strange = await api.GET('/api/idv/renters/{renterId}/report-expiry', {
    params: { path: { renterId: 'nobody' } },
  });
  const [first] = strange.error?.errors ?? [];
  steps.push(String(first?.errorCode));
  return steps;
}

/** Registers an endpoint, pings it, and reads its delivery log. */
export async function manageWebhooks({ baseUrl, dashboardToken }: Integrator, url: string): Promise<string[]> {
  const dashboard = createClient<DashboardPaths>({ baseUrl, headers: { authorization: `Bearer ${dashboardToken}` } });
  const steps: string[] = [];
  const endpoint = given(
    await dashboard.POST('/tsp/webhooks', { body: { url, enabled_events: ['screening.completed'] } }),
  );
  const path = { id: endpoint.id };
  steps.push(endpoint.status, endpoint.secret.slice(0, 6));
  const changed = given(
    await dashboard.PUT('/tsp/webhooks/{id}', { params: { path }, body: { enabled_events: null } }),
  );
  steps.push(String(changed.enabled_events));
  const ping = given(await dashboard.POST('/tsp/webhooks/{id}/test', { params: { path } }));
  steps.push(String(ping.error_code ?? ping.http_status));
  const deliveries = given(
    await dashboard.GET('/tsp/webhooks/{id}/deliveries', { params: { path, query: { event_type: 'ping', limit: 1 } } }),
  );
  steps.push(...deliveries.items.map(({ event_type }) => event_type));
  const rotated = given(await dashboard.POST('/tsp/webhooks/{id}/rotate', { params: { path } }));
  steps.push(rotated.secret === endpoint.secret ? 'the same secret' : 'another secret');
  const { response } = await dashboard.DELETE('/tsp/webhooks/{id}', { params: { path } });
  steps.push(String(response.status), String(given(await dashboard.GET('/tsp/webhooks')).length));
  return steps;
}
