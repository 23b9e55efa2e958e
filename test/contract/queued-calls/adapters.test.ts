// Every operation of every queued adapter, there and back through Redis: to a worker in another process, and to one nearby.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INCOME_VENDOR_QUEUE, QueuedIncomeVendor } from '../../../src/adapters/income-vendor/queued.js';
import { PDF_RENDERER_QUEUE, QueuedPdfRenderer, renderingBy } from '../../../src/adapters/pdf-renderer/queued.js';
import type { QueuedCalls } from '../../../src/adapters/queued-calls/caller.js';
import type { CallQueue, Calls } from '../../../src/adapters/queued-calls/queue.js';
import {
  type IncomeOutcome,
  type IncomeRoute,
  type IncomeStart,
  IncomeVendor,
} from '../../../src/ports/income-vendor.js';
import { PdfRenderer, type RenderedPdf } from '../../../src/ports/pdf-renderer.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { newCall } from '../identity-vendor/suite.js';
import { Processes } from './processes.js';

class Income extends IncomeVendor {
  readonly asked: unknown[] = [];
  override async start(call: VendorCall, route: IncomeRoute, vendorSession: string | null): Promise<IncomeStart> {
    this.asked.push(['start', call, route, vendorSession]);
    return { kind: 'started', inquiry: 'inq-1' };
  }
  override async outcomeOf(call: VendorCall, inquiry: string): Promise<IncomeOutcome> {
    this.asked.push(['outcomeOf', call, inquiry]);
    return { kind: 'failed', reason: 'NO_MATCH' };
  }
}

class Renderer extends PdfRenderer {
  readonly asked: string[] = [];
  answer: () => RenderedPdf = () => ({ kind: 'unavailable' });
  override async render(html: string): Promise<RenderedPdf> {
    this.asked.push(html);
    return this.answer();
  }
}

describe.each(['in another process', 'in the same process'])('a worker %s', (where) => {
  let processes: Processes;
  beforeAll(async () => {
    processes = await Processes.start();
  });
  afterAll(() => processes.end());

  async function behind<Port>(queue: CallQueue<Port>, real: Calls<Port>): Promise<QueuedCalls<Port>> {
    const calls = await processes.caller(queue);
    await processes.worker(queue, real, where === 'in the same process' ? { nearby: calls } : {});
    return calls;
  }

  it('starts income inquiries and asks what came of them', async () => {
    const real = new Income();
    const income = new QueuedIncomeVendor(await behind(INCOME_VENDOR_QUEUE, real));
    const calls = [newCall(), newCall()] as const;
    expect(await income.start(calls[0], 'PAYROLL', null)).toEqual({ kind: 'started', inquiry: 'inq-1' });
    expect(await income.outcomeOf(calls[1], 'inq-1')).toEqual({ kind: 'failed', reason: 'NO_MATCH' });
    expect(real.asked).toEqual([
      ['start', calls[0], 'PAYROLL', null],
      ['outcomeOf', calls[1], 'inq-1'],
    ]);
  });

  it('renders pages: the same bytes, or why there are none', async () => {
    const real = new Renderer();
    const renderer = new QueuedPdfRenderer(await behind(PDF_RENDERER_QUEUE, renderingBy(real)));
    // Every byte, so that no text could carry it; more than one write.
    const content = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(400_000)]);
    real.answer = () => ({ kind: 'pdf', content });
    const html = '<p title="x">Zoë \u2028 \ud83d\ude00</p>\n'.repeat(2_000);
    const rendered = await renderer.render(html, 'person');
    if (rendered.kind !== 'pdf') throw new Error(rendered.kind);
    expect(content.equals(rendered.content)).toBe(true);
    expect(real.asked).toEqual([html]);

    real.answer = () => ({ kind: 'pdf', content: new Uint8Array() });
    expect(await renderer.render('', 'person')).toMatchObject({ kind: 'pdf', content: { length: 0 } });
    for (const kind of ['unavailable', 'timed-out'] as const) {
      real.answer = () => ({ kind });
      expect(await renderer.render('<p>', 'person')).toEqual({ kind });
    }
    real.answer = () => {
      throw new Error('the browser is gone');
    };
    expect(await renderer.render('<p>', 'person')).toEqual({ kind: 'unavailable' });
  });

  it('leaves nothing of it in Redis', async () => {
    const look = processes.connection();
    expect(await look.keys('sealed:*')).toEqual([]);
    expect((await look.keys('*:events')).sort()).toEqual(
      ['income-vendor', 'pdf-renderer'].map((queue) => `bull:${queue}:events`),
    );
  });
});
