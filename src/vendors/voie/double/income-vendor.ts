// The income vendor as a part of the sandbox: its HTTP interface (docs/sandbox.md) and the controls for tests.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallRecord } from '../../../vendor-kit/double/call-record.js';
import { type SandboxPart, sendError } from '../../../vendor-kit/double/sandbox-part.js';
import { VendorCalls, down } from '../../../vendor-kit/double/vendor-calls.js';
import { type Ending, type Route, UNKNOWN_PERSON, endingOf, incomeReport } from './outcomes.js';
import * as requests from './requests.js';

export interface SandboxIncomeVendorOptions {
  /** The folder of the journal. */
  readonly folder: string;
  /** The bearer credential that callers must send. */
  readonly credential: string;
  /** The person of an identity vendor's session; null for an unknown token. */
  readonly personOf: (identitySession: string) => { readonly persona: string; readonly file: number } | null;
  /** The milliseconds that an inquiry takes. The default is 1,000. */
  readonly paceMs?: number;
  /** The milliseconds that a call waits when its account has set a slow vendor. The default is 2,000. */
  readonly slowMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The journal's entry, without personal data. */
interface Inquiry {
  readonly id: string;
  readonly route: Route;
  readonly persona: string;
  /** The number of the invented income. */
  readonly file: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly readyAt: number;
  /** The outcome that a test chose, whatever the persona. */
  readonly decided?: Ending;
}

type InquiryRequest<Body = unknown> = FastifyRequest<{ Params: { id: string }; Body: Body }>;

/** The person of an inquiry without a linked screening. */
const NOBODY_IN_PARTICULAR = { persona: 'ordinary', file: 0 };

export class SandboxIncomeVendor implements SandboxPart {
  private readonly inquiries = new Map<string, Inquiry>();
  private readonly record: CallRecord<'inquiry', Inquiry>;
  private readonly calls: VendorCalls<'inquiry', Inquiry>;
  private paceMs: number;

  constructor(private readonly options: SandboxIncomeVendorOptions) {
    this.record = new CallRecord(
      join(options.folder, 'income-vendor.jsonl'),
      ['inquiry'],
      (inquiry) => void this.inquiries.set(inquiry.id, inquiry),
      ['inquiry'],
    );
    this.calls = new VendorCalls(this.record, options);
    this.paceMs = options.paceMs ?? 1_000;
  }

  mount(server: FastifyInstance): void {
    server.register(
      (income, _options, done) => {
        this.calls.guard(income);
        income.post<{ Body: requests.InquiryBody }>('/inquiries', { schema: requests.INQUIRY }, (request, reply) =>
          this.start(request, reply),
        );
        income.get('/inquiries/:id', { schema: requests.NO_QUERY }, (request: InquiryRequest, reply) =>
          this.tell(request, reply),
        );
        done();
      },
      { prefix: '/income/v1' },
    );
    this.calls.mountControls(server, '/control/income');
    server.post<{ Body: requests.PaceBody }>('/control/income/pace', { schema: requests.PACE }, (request, reply) => {
      this.paceMs = request.body.milliseconds;
      return reply.send({ milliseconds: this.paceMs });
    });
    server.get('/control/income/inquiries', { schema: requests.NO_QUERY }, (_request, reply) => {
      return reply.send({
        inquiries: [...this.inquiries.values()].map((inquiry) => ({
          inquiryId: inquiry.id,
          route: inquiry.route,
          ...statusOf(this.ending(inquiry)),
        })),
      });
    });
    server.post(
      '/control/income/inquiries/:id',
      { schema: requests.DECISION },
      (request: InquiryRequest<requests.DecisionBody>, reply) => this.decide(request, reply),
    );
  }

  close(): void {
    this.calls.close();
    this.record.shut();
  }

  private start(request: FastifyRequest<{ Body: requests.InquiryBody }>, reply: FastifyReply): Promise<FastifyReply> {
    const { route, identitySession } = request.body;
    return this.calls.run(request, reply, {
      operation: 'inquiry',
      content: [route, ...(identitySession === undefined ? [] : [identitySession])],
      execute: () => {
        const person =
          identitySession === undefined
            ? NOBODY_IN_PARTICULAR
            : (this.options.personOf(identitySession) ?? { persona: UNKNOWN_PERSON, file: 0 });
        const startedAt = this.calls.now();
        const inquiry: Inquiry = {
          id: `inq_${randomUUID().replaceAll('-', '')}`,
          route,
          ...person,
          startedAt,
          readyAt: startedAt + this.paceMs,
        };
        return { billed: true, effect: inquiry, answer: { status: 200, body: { inquiryId: inquiry.id } } };
      },
    });
  }

  private tell(request: InquiryRequest, reply: FastifyReply): FastifyReply {
    if (this.calls.outage()) return down(reply);
    const inquiry = this.inquiries.get(request.params.id);
    if (inquiry === undefined) return unknownInquiry(reply);
    const { id, route, file, startedAt } = inquiry;
    const ending = this.ending(inquiry);
    const report = ending === 'completed' ? { report: incomeReport({ file, route, today: new Date(startedAt) }) } : {};
    return reply.send({ inquiryId: id, route, ...statusOf(ending), ...report });
  }

  /** An outcome that callers may already have seen does not change. */
  private async decide(request: InquiryRequest<requests.DecisionBody>, reply: FastifyReply): Promise<FastifyReply> {
    const inquiry = this.inquiries.get(request.params.id);
    if (inquiry === undefined) return unknownInquiry(reply);
    if (this.ending(inquiry) !== null) return sendError(reply, 409, 'inquiry_over', 'the inquiry has ended already');
    const decided = request.body.ending;
    this.record.note({ ...inquiry, decided });
    await this.record.kept();
    return reply.send({ inquiryId: inquiry.id, route: inquiry.route, ...statusOf(decided) });
  }

  /** Null while the inquiry is in progress. */
  private ending(inquiry: Inquiry): Ending | null {
    if (inquiry.decided !== undefined) return inquiry.decided;
    return this.calls.now() < inquiry.readyAt ? null : endingOf(inquiry.persona, inquiry.route);
  }
}

function statusOf(ending: Ending | null): object {
  if (ending === null) return { status: 'in-progress' };
  return ending === 'completed' ? { status: ending } : { status: 'failed', reason: ending };
}

function unknownInquiry(reply: FastifyReply): FastifyReply {
  return sendError(reply, 404, 'inquiry_unknown', 'there is no such inquiry');
}
