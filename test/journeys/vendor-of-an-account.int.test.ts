// An account chooses its vendors (docs/operations/install.md#vendors-of-an-account). The whole service runs in this process, with the second
// vendor acme and a second payment processor, which is an instance of stripe's contract.
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Command, CommandBus } from '@nestjs/cqrs';
import { Test, type TestingModule } from '@nestjs/testing';
import { Queue } from 'bullmq';
import { pino } from 'pino';
import { startSandbox, type RunningSandbox } from '../../sandbox/server.js';
import { AppModule } from '../../src/app.module.js';
import { readConfig } from '../../src/config/config.js';
import { VendorNoticesRoute } from '../../src/external-calls/vendor-notices.js';
import { Clock } from '../../src/kernel/clock.js';
import type { CallerContext } from '../../src/kernel/context.js';
import { newId } from '../../src/kernel/ids.js';
import type { ChosenVendors } from '../../src/kernel/vendor-choice.js';
import { AddCredit } from '../../src/modules/accounts/application/add-credit.js';
import { OpenAccount } from '../../src/modules/accounts/application/open-account.js';
import { SetSettings } from '../../src/modules/accounts/application/set-settings.js';
import { OpenReport } from '../../src/modules/reports/application/open-report.js';
import { ConfirmPayment } from '../../src/modules/payments/application/confirm-payment.js';
import { CreateIntent } from '../../src/modules/payments/application/create-intent.js';
import { RefundPayment } from '../../src/modules/payments/application/refund-payment.js';
import { paymentIdIn } from '../../src/modules/payments/domain/payment.js';
import { AnswerStepUp } from '../../src/modules/screening/application/answer-step-up.js';
import { SubmitScreening } from '../../src/modules/screening/application/submit-screening.js';
import { secretsEntry, type SessionSecretsContent } from '../../src/modules/screening/domain/session.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { RoleRunner } from '../../src/platform/roles/role-runner.js';
import { EventStore } from '../../src/ports/event-store.js';
import { Vault } from '../../src/ports/vault.js';
import { keepEntry, readEntry } from '../../src/ports/vault-entry.js';
import { Screenings } from '../../src/published/screenings.js';
import { findVendors, VendorRegistry } from '../../src/vendor-kit/registry.js';
import { AcmeDouble } from '../../src/vendors/acme/double/acme.js';
import { SandboxProcessor } from '../../src/vendors/stripe/double/processor.js';
import { SetClock } from '../support/clock.js';
import { until } from '../support/eventually.js';
import { eventAbout, intentIn, Processor, signatureOf } from '../support/processor.js';
import { RedisServer } from '../support/redis.js';
import { SANDBOX_CREDENTIAL, sandboxHarness, type SandboxHarness } from '../support/sandbox-harness.js';

const found = await findVendors(undefined, 'stripe-two:stripe');

const ACME = { identity: 'acme', credit: 'acme' };
const FIRST = { identity: 'idv', credit: 'idv' };
const VENDOR_TIMEOUT_SECONDS = 2;

describe('the vendor of an account', () => {
  const clock = new SetClock();
  const folder = mkdtempSync(join(tmpdir(), 'vendor-of-an-account-'));
  const double = new AcmeDouble({
    folder,
    clientId: 'sandbox-acme-client',
    clientSecret: 'sandbox-acme-secret',
    retryAfter: null,
    hangsMs: VENDOR_TIMEOUT_SECONDS * 1_000,
  });
  const processors = { stripe: 'whsec_of_the_first_processor', 'stripe-two': 'whsec_of_the_second_processor' };
  type ProcessorId = keyof typeof processors;
  let first: RunningSandbox;
  let second: RunningSandbox;
  let acme: RunningSandbox;
  let redis: RedisServer;
  let sandbox: SandboxHarness;
  let registry: VendorRegistry;
  let service: TestingModule;
  let screenings: Screenings;
  let vault: Vault;

  beforeAll(async () => {
    const processor = (id: ProcessorId): Promise<RunningSandbox> => {
      const part = new SandboxProcessor({ folder: join(folder, id), secretKey: `sk_test_of_${id}`, events: null });
      return startSandbox({ host: '127.0.0.1', port: 0, parts: [part] });
    };
    [redis, sandbox, first, second, acme] = await Promise.all([
      RedisServer.start(),
      sandboxHarness(),
      processor('stripe'),
      processor('stripe-two'),
      startSandbox({ host: '127.0.0.1', port: 0, parts: [double] }),
    ]);
    const config = readConfig(
      {
        REDIS_URL: redis.url,
        DATA_DIR: folder,
        SANDBOX_URL: sandbox.url,
        IDENTITY_VENDOR_KEY: SANDBOX_CREDENTIAL,
        INCOME_VENDOR_KEY: SANDBOX_CREDENTIAL,
        VENDOR_ACME_URL: acme.url,
        VENDOR_INSTANCES: 'stripe-two:stripe',
        PROCESSOR_URL: first.url,
        PROCESSOR_SECRET_KEY: 'sk_test_of_stripe',
        PROCESSOR_WEBHOOK_SECRET: processors.stripe,
        VENDOR_STRIPE_TWO_URL: second.url,
        VENDOR_STRIPE_TWO_SECRET_KEY: 'sk_test_of_stripe-two',
        VENDOR_STRIPE_TWO_WEBHOOK_SECRETS: processors['stripe-two'],
        VENDOR_TIMEOUT: String(VENDOR_TIMEOUT_SECONDS),
      },
      { vendors: found },
    );
    registry = new VendorRegistry(found, config.vendors.byId);
    await registry.open(config.limits.vendorTimeout * 1_000);
    service = await Test.createTestingModule({
      imports: [AppModule.forRoot(config, registry, pino({ level: 'silent' }), new Metrics())],
    })
      .overrideProvider(Clock)
      .useValue(clock)
      .compile();
    await service.init();
    await service.get(RoleRunner, { strict: false }).start();
    screenings = service.get(Screenings, { strict: false });
    vault = service.get(Vault, { strict: false });
  });
  afterAll(async () => {
    await service.close();
    await Promise.all([acme, first, second].map((one) => one.close()));
    await sandbox.close();
    await redis.stop();
    rmSync(folder, { recursive: true });
  });

  const run = <Result>(command: Command<Result>): Promise<Result> =>
    service.get(CommandBus, { strict: false }).execute(command);
  const sentToSandbox = async (): Promise<number> => (await sandbox.control('calls')).operations.registration.received;

  /** The number of requests of each kind that acme has received. */
  async function sentToAcme(): Promise<Readonly<Record<string, number>>> {
    const { operations }: any = await (await fetch(`${acme.url}/control/calls`)).json();
    return Object.fromEntries(
      Object.entries<{ received: number }>(operations).map(([name, { received }]) => [name, received]),
    );
  }

  async function anAccount(vendors: ChosenVendors, payer: 'account' | 'consumer' = 'account'): Promise<CallerContext> {
    const accountId = newId();
    const context = {
      accountId,
      environment: 'test',
      actor: { kind: 'operator', id: 'tester' },
      correlationId: newId(),
      causationId: newId(),
    } as const;
    await run(
      new OpenAccount(
        { accountId, name: 'Example', parentId: null, settings: { payer, prepaidBilling: true, vendors } },
        context,
      ),
    );
    await run(new AddCredit({ accountId, credits: 1, reference: 'test' }, context));
    return context;
  }

  async function submit(context: CallerContext, lastName = 'Otptest'): Promise<string> {
    const applicant = {
      userType: 'CONSUMER',
      firstName: 'Ada',
      lastName,
      dateOfBirth: '04121990',
      ssn: '666123456',
      phoneNumber: '4155550134',
      phoneType: 'C',
      address: { street: '1 Main Street', city: 'San Francisco', state: 'CA', zip: '94105' },
      jscPayload: 'fingerprint',
      termsAcceptedAt: clock.now().toISOString(),
    } as const;
    const sessionId = newId();
    await run(
      new SubmitScreening(
        { sessionId, applicant, grantId: null, clientAddress: null, partyId: null, said: {} },
        context,
      ),
    );
    return sessionId;
  }

  const vendorsRecorded = async (sessionId: string): Promise<unknown> => {
    const [first] = await service.get(EventStore, { strict: false }).readStream(`screening-${sessionId}`);
    return (first?.data as { readonly vendors?: unknown }).vendors;
  };

  it('receives its sessions and all their later calls, even if the account has chosen another vendor since', async () => {
    const context = await anAccount(ACME);
    const before = await sentToSandbox();
    const sessionId = await submit(context);
    expect(await vendorsRecorded(sessionId)).toEqual({ ...ACME, income: 'voie' });

    await run(new SetSettings(context.accountId, { vendors: FIRST }, context));
    clock.pass(60);
    expect(
      await run(
        new AnswerStepUp(
          { sessionId, attemptId: newId(), given: { method: 'otp', code: '000000' }, clientAddress: null },
          context,
        ),
      ),
    ).toMatchObject({
      status: 'OTP_PENDING',
    });
    await run(
      new AnswerStepUp({ sessionId, attemptId: newId(), given: { method: 'resend' }, clientAddress: null }, context),
    );
    expect(
      await run(
        new AnswerStepUp(
          { sessionId, attemptId: newId(), given: { method: 'otp', code: '123456' }, clientAddress: null },
          context,
        ),
      ),
    ).toMatchObject({
      status: 'VERIFIED',
    });
    expect(await sentToAcme()).toMatchObject({ verification: 1, code: 2, code_resend: 1, answers: 0 });
    expect((await run(new OpenReport(sessionId, 'json', context))).score?.model).toBe('Acme Rent Score 4');
    expect((await sentToAcme()).report).toBe(1);
    expect(await sentToSandbox()).toBe(before);

    // The account's next session goes to its new vendor.
    await submit(context, 'Another');
    expect([(await sentToAcme()).verification, await sentToSandbox()]).toEqual([1, before + 1]);
  });

  it('receives no sessions of another account', async () => {
    await anAccount(ACME);
    const [before, sent] = [await sentToSandbox(), await sentToAcme()];
    const sessionId = await submit(await anAccount({}));
    expect(await vendorsRecorded(sessionId)).toEqual({ ...FIRST, income: 'voie' });
    expect([await sentToAcme(), await sentToSandbox()]).toEqual([sent, before + 1]);
  });

  it('receives only its own reference to a person: the vendor of another capability does not get it', async () => {
    const context = await anAccount(ACME);
    const sessionId = await submit(context);
    await run(
      new AnswerStepUp(
        { sessionId, attemptId: newId(), given: { method: 'otp', code: '123456' }, clientAddress: null },
        context,
      ),
    );
    const references = (): Promise<unknown[]> =>
      Promise.all((['credit', 'income'] as const).map((capability) => screenings.reference(sessionId, capability)));
    // The bureau of acme knows persons by their own data.
    const applicant = expect.objectContaining({ lastName: 'Otptest', ssn: '666123456' });
    expect(await references()).toEqual([
      { vendor: 'acme', subject: expect.objectContaining({ person: { kind: 'applicant', applicant } }) },
      { vendor: 'voie', subject: null },
    ]);
    // An earlier release kept only the identity vendor's token. The default vendors use this token.
    const subject = (await screenings.find(sessionId))?.subjectId ?? '';
    const kept = await readEntry<SessionSecretsContent>(vault, subject, secretsEntry(sessionId));
    const { references: _none, ...before } = kept as SessionSecretsContent;
    await keepEntry(vault, subject, secretsEntry(sessionId), before);
    const token = expect.stringContaining('ver_');
    expect(await references()).toMatchObject([{ subject: { person: { token } } }, { subject: { person: { token } } }]);
  });

  it('is asked through its own queues for the result of an attempt whose end was not recorded', async () => {
    const added = jest.spyOn(Queue.prototype, 'add');
    const context = await anAccount(ACME);
    const sessionId = await submit(context, 'Latetest');
    await run(new SetSettings(context.accountId, { vendors: FIRST }, context));
    clock.pass(VENDOR_TIMEOUT_SECONDS + 10);
    await until('the recovery has asked', async () => (await screenings.find(sessionId))?.status === 'VERIFIED');
    const queues = added.mock.contexts
      .map((queue) => (queue as Queue).name)
      .filter((name) => name.includes('identity'));
    expect(new Set(queues)).toEqual(new Set(['identity-vendor-acme-test', 'identity-vendor-acme-test-settle']));
    added.mockRestore();
  });

  it('receives the payments of the account and all their later calls, and takes nothing from the first processor', async () => {
    const added = jest.spyOn(Queue.prototype, 'add');
    const at = { stripe: new Processor(first.url), 'stripe-two': new Processor(second.url) };
    const opened = async (id: ProcessorId, vendors: ChosenVendors) => {
      const context = await anAccount(vendors, 'consumer');
      const sessionId = await submit(context, 'Payer');
      const wish = { amountCents: 3_500, applicationFeeCents: null };
      const { transactionId, clientSecret } = await run(new CreateIntent(sessionId, wish, context));
      const stream = `payment-${paymentIdIn(transactionId)}`;
      const [begun] = await service.get(EventStore, { strict: false }).readStream(stream);
      expect(begun?.data).toMatchObject({ vendor: id });
      const processor = at[id];
      const intents = (one: Processor): Promise<unknown[]> => one.intents({ transaction: transactionId });
      const others = Object.values(at).filter((one) => one !== processor);
      expect([await intents(processor), ...(await Promise.all(others.map(intents)))].map((all) => all.length)).toEqual([
        1, 0,
      ]);
      expect((await processor.confirm(clientSecret, 'pm_card_visa')).status).toBe(200);
      return { context, sessionId, transactionId, intent: intentIn(clientSecret) };
    };
    type Paid = Awaited<ReturnType<typeof opened>>;
    const tell = (paid: Paid, secret: ProcessorId, vendor?: ProcessorId): Promise<void> => {
      const event = JSON.parse(eventAbout(paid.intent));
      event.data.object.metadata = { transaction_id: paid.transactionId };
      const body = JSON.stringify(event);
      return service.get(VendorNoticesRoute, { strict: false }).receive({
        ...{ params: vendor === undefined ? {} : { vendor }, requestId: newId(), body: Buffer.from(body) },
        headers: {
          'stripe-signature': signatureOf(body, { secret: processors[secret], at: clock.now().getTime() / 1e3 }),
        },
      });
    };
    const statusOf = async (sessionId: string): Promise<unknown> => (await screenings.find(sessionId))?.paymentStatus;

    const own = await opened('stripe-two', { payment: 'stripe-two' });
    const other = await opened('stripe', {});
    // The account chooses another processor afterwards. The payment stays where it was begun.
    await run(new SetSettings(own.context.accountId, { vendors: { payment: null } }, own.context));
    clock.pass(60);

    await expect(tell(own, 'stripe', 'stripe-two')).rejects.toMatchObject({ code: 'request.invalid' });
    await tell(own, 'stripe');
    await tell(other, 'stripe-two', 'stripe-two');
    expect([await statusOf(own.sessionId), await statusOf(other.sessionId)]).toEqual(['PENDING', 'PENDING']);
    await tell(own, 'stripe-two', 'stripe-two');
    await tell(other, 'stripe');
    await until('both sessions are paid', async () =>
      (await Promise.all([own, other].map(({ sessionId }) => statusOf(sessionId)))).every((one) => one === 'SUCCEEDED'),
    );

    const before = await at.stripe.allCalls();
    expect(await run(new ConfirmPayment(own.transactionId, own.context))).toMatchObject({ status: 'SUCCEEDED' });
    expect(await run(new RefundPayment(own.transactionId, 'other', own.context))).toMatchObject({ status: 'REFUNDED' });
    expect(await at['stripe-two'].money({ intent: own.intent })).toMatchObject({ received: 3_500, refunded: 3_500 });
    expect(await at.stripe.allCalls()).toEqual(before);
    const queues = added.mock.contexts.map((queue) => (queue as Queue).name).filter((name) => name.includes('payment'));
    expect(new Set(queues)).toEqual(new Set(['payment-processor-test', 'payment-processor-stripe-two-test']));
    added.mockRestore();
  });

  it('must be an installed vendor', async () => {
    const offered = registry.offering('identity').join(', ');
    expect(offered).toContain('acme');
    await expect(anAccount({ identity: 'nobody' })).rejects.toMatchObject({
      code: 'request.invalid',
      detail: {
        details: [{ field: 'identity-vendor', message: `The identity vendor must be one of ${offered}.` }],
      },
    });
  });
});
