import { expect, it } from '@jest/globals';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { until } from '../../support/eventually.js';

/** In milliseconds. A busy machine delays a short pause by less than this time. */
const SAMPLED_EVERY = 5;

const lagOf = (text: string, statistic: string): number =>
  Number(new RegExp(`^nodejs_eventloop_lag_${statistic}_seconds (.+)$`, 'm').exec(text)?.[1]) * 1_000;

it('the lag of an event handler is served under the new and the earlier name', async () => {
  const metrics = new Metrics();
  metrics.setHandlerLag('report_credit', 3);
  const text = await metrics.text();
  expect(text).toContain('event_handler_lag_seconds{handler="report_credit"} 3\n');
  expect(text).toContain('reaction_lag_seconds{reaction="report_credit"} 3\n');
});

it('the metrics count no lag for the time between two samples of an idle event loop', async () => {
  const metrics = new Metrics(SAMPLED_EVERY);
  await until('a sample of an idle loop came in time', async () => {
    const text = await metrics.text();
    return lagOf(text, 'max') > 0 && lagOf(text, 'p50') < SAMPLED_EVERY;
  });
});

it('the metrics report how long the event loop was blocked', async () => {
  const metrics = new Metrics(SAMPLED_EVERY);
  await until('a sample came late', async () => {
    const blockedUntil = performance.now() + 100;
    while (performance.now() < blockedUntil);
    await new Promise(setImmediate);
    return lagOf(await metrics.text(), 'max') > 100 - 3 * SAMPLED_EVERY;
  });
});
