// The vendor of bank transactions as a part of the sandbox: its HTTP interface and the controls for tests.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallRecord } from '../../../vendor-kit/double/call-record.js';
import { type SandboxPart, sendError, type SandboxPerson } from '../../../vendor-kit/double/sandbox-part.js';
import { VendorCalls, down } from '../../../vendor-kit/double/vendor-calls.js';
import { type Ending, endingOf, reportOf, UNKNOWN_PERSON } from './outcomes.js';

export interface CashflowDoubleOptions {
  /** The folder of the journal. */
  readonly folder: string;
  /** The bearer credential that callers must send. */
  readonly credential: string;
  /** The person of an identity vendor's session; null for an unknown token. */
  readonly personOf: (identitySession: string) => SandboxPerson | null;
  /** The milliseconds that an inquiry takes. The default is 1,000. */
  readonly paceMs?: number;
  /** The milliseconds that a slow call waits. */
  readonly slowMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The journal's entry, without personal data. */
interface Inquiry extends SandboxPerson {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly readyAt: number;
}

interface InquiryBody {
  /** The identity vendor's token, which identifies the person. */
  readonly identitySession?: string;
}

const strict = { type: 'object', additionalProperties: false };
const NO_QUERY = { querystring: strict };
const INQUIRY = {
  ...NO_QUERY,
  body: { ...strict, properties: { identitySession: { type: 'string', minLength: 1, maxLength: 4_000 } } },
};

export class CashflowDouble implements SandboxPart {
  private readonly inquiries = new Map<string, Inquiry>();
  private readonly record: CallRecord<'inquiry', Inquiry>;
  private readonly calls: VendorCalls<'inquiry', Inquiry>;

  constructor(private readonly options: CashflowDoubleOptions) {
    const note = (inquiry: Inquiry): void => void this.inquiries.set(inquiry.id, inquiry);
    this.record = new CallRecord(join(options.folder, 'cashflow.jsonl'), ['inquiry'], note, ['inquiry']);
    this.calls = new VendorCalls(this.record, options);
  }

  mount(server: FastifyInstance): void {
    server.register(
      (routes, _options, done) => {
        this.calls.guard(routes);
        routes.post<{ Body: InquiryBody }>('/inquiries', { schema: INQUIRY }, (request, reply) =>
          this.start(request, reply),
        );
        routes.get<{ Params: { id: string } }>('/inquiries/:id', { schema: NO_QUERY }, (request, reply) =>
          this.tell(request.params.id, reply),
        );
        done();
      },
      { prefix: '/v1' },
    );
    this.calls.mountControls(server, '/control');
  }

  close(): void {
    this.calls.close();
    this.record.shut();
  }

  private start(request: FastifyRequest<{ Body: InquiryBody }>, reply: FastifyReply): Promise<FastifyReply> {
    const { identitySession } = request.body;
    return this.calls.run(request, reply, {
      operation: 'inquiry',
      content: identitySession === undefined ? [] : [identitySession],
      execute: () => {
        const startedAt = this.calls.now();
        const inquiry: Inquiry = {
          id: `bank_${randomUUID().replaceAll('-', '')}`,
          ...this.namedBy(identitySession),
          startedAt,
          readyAt: startedAt + (this.options.paceMs ?? 1_000),
        };
        return { billed: true, effect: inquiry, answer: { status: 200, body: { inquiryId: inquiry.id } } };
      },
    });
  }

  /** Without a session, the person chooses the bank on the vendor's page. */
  private namedBy(identitySession: string | undefined): SandboxPerson {
    if (identitySession === undefined) return { persona: 'ordinary', file: 0 };
    return this.options.personOf(identitySession) ?? { persona: UNKNOWN_PERSON, file: 0 };
  }

  private tell(id: string, reply: FastifyReply): FastifyReply {
    if (this.calls.outage()) return down(reply);
    const inquiry = this.inquiries.get(id);
    if (inquiry === undefined) return sendError(reply, 404, 'inquiry_unknown', 'there is no such inquiry');
    const ending = this.calls.now() < inquiry.readyAt ? null : endingOf(inquiry.persona);
    return reply.send({ inquiryId: id, ...statusOf(ending, inquiry) });
  }
}

function statusOf(ending: Ending | null, { file, startedAt }: Inquiry): object {
  if (ending === null) return { status: 'in-progress', checkAgainSeconds: 1 };
  if (ending !== 'completed') return { status: 'failed', reason: ending };
  return { status: ending, report: reportOf({ file, today: new Date(startedAt) }) };
}
