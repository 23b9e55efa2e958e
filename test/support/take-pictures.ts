// `npm run screenshots` takes every screen of the embedded component, light and dark, as docs/embedded/<screen>-<light|dark>.png,
// and docs/embedded/overview.png for the README.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Language } from './details-form.js';
import { Walk } from './embedded-walk.js';
import { Embedding } from './embedding.js';
import { ALONE } from './service.js';

const { folder, language, width } = parseArgs({
  options: {
    folder: { type: 'string', default: 'docs/embedded' },
    language: { type: 'string', default: 'en' },
    // Wide enough for two fields side by side.
    width: { type: 'string', default: '560' },
  },
}).values;

/**
 * A browser paints only the part of a frame that its window shows. A picture shows the beginning of a report, and every other screen whole.
 */
const windowFor = (screen: string): { width: number; height: number } => ({
  width: Number(width),
  height: screen.startsWith('report') ? 900 : 2_200,
});

/** The report as a landlord reads it, of a renter who pays on time. */
async function reportPage({ service }: Embedding): Promise<string> {
  const caller = await service.signIn('nopay');
  const renter = { firstName: 'Robin', lastName: 'Rivera', ssn: '666443210' };
  const { body } = await caller.submit({ ...renter, unitAddress: '12 Elm Street, Apt 4, Austin, TX 78701' });
  const { status, text } = await caller.get(`/reports/${body.id}`, { accept: 'text/html' });
  if (status !== 200) throw new Error(`The report was answered with ${status}: ${text}`);
  return text;
}

/** The picture of the README: the payment of the component, and the report beside it. */
async function takeOverview(embedding: Embedding): Promise<void> {
  const page = await embedding.browser.newPage({ viewport: { width: 880, height: 1_240 }, deviceScaleFactor: 2 });
  await page.setContent(await reportPage(embedding));
  const report = (await page.screenshot()).toString('base64');
  const payment = await readFile(`${folder}/payment-light.png`, 'base64');
  const sheets = [payment, report].map((picture) => `<img alt="" src="data:image/png;base64,${picture}">`);
  await page.setViewportSize({ width: 1_100, height: 780 });
  await page.setContent(`<style>
    body { margin: 0; padding: 24px; display: flex; gap: 24px; align-items: start; background: #eef2fd }
    img { width: 514px; border-radius: 10px; box-shadow: 0 2px 12px #161b2622 }
  </style>${sheets.join('')}`);
  await page.screenshot({ path: `${folder}/overview.png` });
  await page.close();
}

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const embedding = await Embedding.start({}, { alone: ALONE });
try {
  embedding.serving('/', { html: embedding.hostPage('<style>body{margin:0}</style><main id="place"></main>') });
  const demo = await embedding.service.signIn();
  for (const colorScheme of ['light', 'dark'] as const) {
    const host = await embedding.open('/', { colorScheme, reducedMotion: 'reduce' });
    await new Walk(demo, host, language as Language, async (screen) => {
      const window = windowFor(screen);
      await host.page.setViewportSize(window);
      await host.page.evaluate(() => (globalThis as any).scrollTo(0, 0));
      const { y, height } = (await host.page.locator('#place iframe').boundingBox())!;
      const clip = { x: 0, y: 0, width: window.width, height: Math.min(y + height, window.height) };
      await host.page.screenshot({ path: `${folder}/${screen}-${colorScheme}.png`, clip });
    }).everything();
    await host.close();
  }
  await takeOverview(embedding);
} finally {
  await embedding.stop();
}
