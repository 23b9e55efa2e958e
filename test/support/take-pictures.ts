// `npm run screenshots` takes the pictures that the documents show, as docs/embedded/<screen>-<light|dark>.png, and
// docs/embedded/overview.png for the README. With another folder, it takes every screen of the embedded component,
// light and dark.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ONE_PROCESS } from './browsers.js';
import type { Language } from './details-form.js';
import { Walk } from './embedded-walk.js';
import { Embedding } from './embedding.js';
import { ALONE, type PlatformCaller } from './service.js';

const DOCUMENTS = 'docs/embedded';
/** The width of the payment in the overview, in CSS pixels. */
const PAYMENT_WIDTH = 460;

const { folder, language, width } = parseArgs({
  options: {
    folder: { type: 'string', default: DOCUMENTS },
    language: { type: 'string', default: 'en' },
    // The window is wide enough for two fields side by side.
    width: { type: 'string', default: '560' },
  },
}).values;

/**
 * A browser paints only the part of a frame that its window shows. The picture of a report shows its beginning. All
 * other pictures show the whole screen.
 */
const windowFor = (screen: string): { width: number; height: number } => ({
  width: Number(width),
  height: screen.startsWith('report') ? 900 : 2_200,
});

/** The pictures that the documents show: `<screen>-<light|dark>`. */
async function shownPictures(): Promise<ReadonlySet<string>> {
  const pages = ['README.md', ...(await readdir('docs', { recursive: true })).map((page) => `docs/${page}`)];
  const texts = await Promise.all(pages.filter((page) => page.endsWith('.md')).map((page) => readFile(page, 'utf8')));
  return new Set([...texts.join('\n').matchAll(/embedded\/([\w-]+)\.png/g)].map(([, name]) => name!));
}

/** The picture of the README: the payment of a renter who pays on time, and the report that a landlord reads. */
async function takeOverview(embedding: Embedding, demo: PlatformCaller): Promise<void> {
  const renter = { firstName: 'Robin', lastName: 'Rivera', ssn: '666443210' };
  const { body } = await demo.submit({ ...renter, unitAddress: '12 Elm Street, Apt 4, Austin, TX 78701' });
  const screen = { deviceScaleFactor: 2, reducedMotion: 'reduce' } as const;
  const host = await embedding.open('/', { ...screen, viewport: { width: PAYMENT_WIDTH, height: 900 } });
  const sheets: Buffer[] = [];
  await new Walk(demo, host, 'en', async () => {
    const { height } = (await host.page.locator('#place iframe').boundingBox())!;
    sheets.push(await host.page.screenshot({ clip: { x: 0, y: 0, width: PAYMENT_WIDTH, height } }));
  }).paid(body.id);
  await host.close();
  const { status, text } = await demo.get(`/reports/${body.id}`, { accept: 'text/html' });
  if (status !== 200) throw new Error(`The report was answered with ${status}: ${text}`);
  const page = await embedding.browser.newPage({ ...screen, viewport: { width: 880, height: 1_200 } });
  await page.setContent(text);
  const { y, height } = (await page.locator('.glance').boundingBox())!;
  sheets.push(await page.screenshot({ clip: { x: 0, y: 0, width: 880, height: y + height + 24 } }));
  await page.close();
  const both = await embedding.browser.newPage({ deviceScaleFactor: 1.5, viewport: { width: 1_100, height: 700 } });
  const image = (sheet: Buffer): string => `<img alt="" src="data:image/png;base64,${sheet.toString('base64')}">`;
  await both.setContent(`<!doctype html><style>
    body { margin: 0; padding: 24px; display: flex; gap: 24px; align-items: start; background: #eef2fd }
    img { width: ${1_100 - 72 - PAYMENT_WIDTH}px; border-radius: 10px; box-shadow: 0 2px 12px #161b2622 }
    img:first-of-type { width: ${PAYMENT_WIDTH}px }
  </style>${sheets.map(image).join('')}`);
  await both.screenshot({ path: `${folder}/overview.png`, fullPage: true });
  await both.close();
}

const shown = folder === DOCUMENTS ? await shownPictures() : null;
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
// A frame in a process of its own is drawn with one dot for each pixel, on every screen.
const embedding = await Embedding.start({}, { alone: ALONE, isolation: ONE_PROCESS });
try {
  embedding.serving('/', { html: embedding.hostPage('<style>body{margin:0}</style><main id="place"></main>') });
  const demo = await embedding.service.signIn();
  for (const colorScheme of ['light', 'dark'] as const) {
    const host = await embedding.open('/', { colorScheme, reducedMotion: 'reduce' });
    await new Walk(demo, host, language as Language, async (screen) => {
      const name = `${screen}-${colorScheme}`;
      if (shown?.has(name) === false) return;
      const window = windowFor(screen);
      await host.page.setViewportSize(window);
      await host.page.evaluate(() => (globalThis as any).scrollTo(0, 0));
      // A button below the mouse pointer looks pressed.
      await host.page.mouse.move(0, 0);
      const { y, height } = (await host.page.locator('#place iframe').boundingBox())!;
      const clip = { x: 0, y: 0, width: window.width, height: Math.min(y + height, window.height) };
      await host.page.screenshot({ path: `${folder}/${name}.png`, clip });
    }).everything();
    await host.close();
  }
  await takeOverview(embedding, demo);
} finally {
  await embedding.stop();
}
