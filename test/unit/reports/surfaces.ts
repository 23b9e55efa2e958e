// Serves the reports module over real HTTP: wired by Nest, with its guards, the HTTP server and the error replies. The
// Harness stands in for all other modules.
import 'reflect-metadata';
import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';
import { Es256TokenKeys } from '../../../src/adapters/token-keys/es256.js';
import { ExternalCalls } from '../../../src/external-calls/external-calls.js';
import { Clock } from '../../../src/kernel/clock.js';
import type { Environment } from '../../../src/kernel/environment.js';
import { AccountCredit } from '../../../src/modules/accounts/application/account-credit.js';
import { ReportPolicy } from '../../../src/modules/reports/application/report-policy.js';
import { AccountLists } from '../../../src/published/account-lists.js';
import { AccountsModule } from '../../../src/modules/accounts/accounts.module.js';
import { ScreeningModule } from '../../../src/modules/screening/screening.module.js';
import { HttpSettings } from '../../../src/config/http.js';
import { PdfSettings } from '../../../src/config/pdf.js';
import { servePdfsApart } from '../../../src/modules/reports/http/platform/pdf-host.js';
import { ReportRoutesModule } from '../../../src/modules/reports/report-routes.module.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../src/platform/aggregates/grouped-stream.js';
import { BearerTokens } from '../../../src/platform/http/bearer-strategy.js';
import { serveSurfaces } from '../../../src/platform/http/serve-surfaces.js';
import { createServer } from '../../../src/platform/http/server.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { CompleteLists } from '../../../src/platform/subscriptions/complete-lists.js';
import { CreditBureau } from '../../../src/ports/credit-bureau.js';
import { IdempotencyRecords } from '../../../src/ports/idempotency-records.js';
import { type PageSource, PdfRenderer, type RenderedPdf } from '../../../src/ports/pdf-renderer.js';
import { EventStore } from '../../../src/ports/event-store.js';
import type { ProjectionStore } from '../../../src/ports/projection-store.js';
import { RateLimiter } from '../../../src/ports/rate-limiter.js';
import { CallsAtOnce } from '../../support/external-calls.js';
import { CountedInMemory } from '../../support/rate-limiter.js';
import { ReadModels } from '../../../src/ports/read-models.js';
import { TemporaryFiles } from '../../../src/ports/temporary-files.js';
import { TokenKeys } from '../../../src/ports/token-keys.js';
import { Vault } from '../../../src/ports/vault.js';
import { Vendors } from '../../../src/ports/vendors.js';
import { AccessKeys, type KeyHolder } from '../../../src/published/access-keys.js';
import { Accounts } from '../../../src/published/accounts.js';
import { PrepaidCredit } from '../../../src/published/prepaid-credit.js';
import { Screenings } from '../../../src/published/screenings.js';
import { SessionGrants } from '../../../src/published/session-grants.js';
import { SURFACES } from '../../../src/surfaces/all.js';
import { SurfacesModule } from '../../../src/modules/surfaces.module.js';
import { foldState, type Projection } from '../../../src/kernel/projection.js';
import { PartiesModule } from '../../../src/modules/parties/parties.module.js';
import { Checkouts } from '../../../src/published/checkouts.js';
import { PaymentsModule } from '../../../src/modules/payments/payments.module.js';
import { Parties } from '../../../src/published/parties.js';
import type { Harness } from './harness.js';

export const PDF = Buffer.from('%PDF-1.7 printed');

/** Answers the prepared result, and remembers the pages and their sources. */
export class PlayedRenderer extends PdfRenderer {
  readonly pages: string[] = [];
  readonly sources: (PageSource | undefined)[] = [];
  answer: RenderedPdf = { kind: 'pdf', content: PDF };
  busy: Promise<void> = Promise.resolve();
  override async render(html: string, _environment: Environment, source?: PageSource): Promise<RenderedPdf> {
    this.pages.push(html);
    this.sources.push(source);
    await this.busy;
    return this.answer;
  }
}

export class PlayedFiles extends TemporaryFiles {
  readonly kept = new Map<string, Uint8Array>();
  readonly ttls: number[] = [];
  override async put(name: string, _subject: string, content: Uint8Array, ttlMs: number): Promise<void> {
    this.kept.set(name, content);
    this.ttls.push(ttlMs);
  }
  override async get(name: string): Promise<Uint8Array | null> {
    return this.kept.get(name) ?? null;
  }
}

export interface ReportSurfaces {
  readonly app: NestFastifyApplication;
  readonly base: string;
  readonly tokens: TokenKeys;
  readonly renderer: PlayedRenderer;
  readonly files: PlayedFiles;
  readonly limiter: CountedInMemory;
  readonly calls: CallsAtOnce;
  readonly lists: PlayedLists;
}

/** Lists without entries, of a projector that has read the whole log or is behind the log. */
class PlayedLists {
  areBehind = false;

  in(events: EventStore): CompleteLists {
    const store = {
      generations: async () => ({ live: this.areBehind ? null : 1, building: null }),
      checkpoint: async () => ({ position: await events.head(), log: null }),
    } as unknown as ProjectionStore;
    const lists = new CompleteLists(events, store, { idsIn: async () => [] });
    const idsIn = lists.idsIn.bind(lists);
    // Tests never have to wait for a list.
    return Object.assign(lists, {
      idsIn: (...[projection, list]: Parameters<typeof idsIn>) => idsIn(projection, list, 0),
    });
  }
}

function holderOf(kind: 'secret' | 'api', key: string): KeyHolder | null {
  const [, clientClass, accountId] = /^(sk_test|partner|first_party)_(.*)$/.exec(key) ?? [];
  if (clientClass === undefined || accountId === undefined || (clientClass === 'sk_test') !== (kind === 'secret'))
    return null;
  const holder = { keyId: `${kind}-key`, accountId, environment: 'test' } as const;
  return clientClass === 'sk_test' ? holder : { ...holder, clientClass: clientClass as 'partner' | 'first_party' };
}

/** Starts the server. A secret key is `sk_test_<account>`. A key of the direct API is `partner_<account>` or `first_party_<account>`. */
export async function openSurfaces(harness: Harness, pdfUrl: string | null = null): Promise<ReportSurfaces> {
  const renderer = new PlayedRenderer();
  const files = new PlayedFiles();
  const limiter = new CountedInMemory();
  const calls = new CallsAtOnce();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const tokens: TokenKeys = await Es256TokenKeys.from(
    privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    'https://service.example.test',
  );
  // Makes the read models answer as if the lists were empty.
  const readModels = {
    applyNow: async () => undefined,
    get: async (projection: Projection<object, unknown>, id: string) => {
      const history = await harness.store.readStream(`${projection.category}-${id}`);
      const state = foldState(projection, history);
      return state === null ? null : { id, revision: history.length - 1, doc: projection.view(state) };
    },
    list: async () => ({ items: [], total: 0, next: null }),
  } as unknown as ReadModels;
  const lists = new PlayedLists();
  const aggregates = new AggregateStore(harness.store, readModels, harness.clock, { appendConflict: () => undefined });
  const streams = new GroupedStream(harness.store, harness.clock, { appendConflict: () => undefined });
  const provided = [
    { provide: Clock, useValue: harness.clock },
    { provide: EventStore, useValue: harness.store },
    { provide: AggregateStore, useValue: aggregates },
    { provide: GroupedStream, useValue: streams },
    { provide: Vault, useValue: harness.vault },
    { provide: ReadModels, useValue: readModels },
    { provide: CompleteLists, useValue: lists.in(harness.store) },
    { provide: CreditBureau, useValue: harness.bureau },
    { provide: Vendors, useValue: { speaksDirect: () => true } },
    { provide: ExternalCalls, useValue: calls },
    { provide: PdfRenderer, useValue: renderer },
    { provide: TemporaryFiles, useValue: files },
    { provide: Screenings, useValue: harness.screenings },
    { provide: Parties, useValue: harness.parties },
    { provide: Checkouts, useValue: harness.checkouts },
    { provide: Accounts, useValue: harness.accounts },
    // test/e2e/server/lists asks the list routes.
    { provide: AccountLists, useValue: {} },
    { provide: PrepaidCredit, useValue: new AccountCredit(streams, harness.accounts) },
    { provide: SessionGrants, useValue: harness.grants },
    { provide: HttpSettings, useValue: { embeddedUrl: 'https://embedded.example.test/component' } },
    { provide: PdfSettings, useValue: {} },
    { provide: RateLimiter, useValue: limiter },
    { provide: IdempotencyRecords, useValue: {} },
    { provide: TokenKeys, useValue: tokens },
    {
      provide: AccessKeys,
      useValue: {
        authenticate: async (kind: 'secret' | 'api', key: string) => holderOf(kind, key),
      },
    },
  ];
  const needed = [...provided, BearerTokens];
  @Global()
  @Module({
    imports: [CqrsModule.forRoot(), DiscoveryModule, ReportRoutesModule, SurfacesModule],
    providers: needed,
    exports: needed.map((one) => ('provide' in one ? one.provide : one)),
  })
  class ReportRoutes {}
  @Module({})
  class Nothing {}

  const log = pino({ level: 'silent' });
  const server = createServer({
    surfaces: SURFACES,
    trustedProxies: [],
    requireTls: false,
    tls: null,
    log,
    metrics: new Metrics(),
  });
  // The providers above stand in for the modules that reports need.
  const testing = await Test.createTestingModule({ imports: [ReportRoutes] })
    .overrideModule(AccountsModule)
    .useModule(Nothing)
    .overrideModule(PaymentsModule)
    .useModule(Nothing)
    .overrideModule(PartiesModule)
    .useModule(Nothing)
    .overrideModule(ScreeningModule)
    .useModule(Nothing)
    .overrideProvider(ReportPolicy)
    .useValue(harness.policy)
    .compile();
  const app = testing.createNestApplication<NestFastifyApplication>(server, {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  if (pdfUrl !== null) servePdfsApart(app.getHttpAdapter().getInstance(), pdfUrl);
  serveSurfaces(app, SURFACES, log);
  await app.listen(0, '127.0.0.1');
  const base = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  return { app, base, tokens, renderer, files, limiter, calls, lists };
}
