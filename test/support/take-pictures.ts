// `npm run screenshots` takes every screen of the embedded component, light and dark, as docs/embedded/<screen>-<light|dark>.png.
import { mkdir, rm } from 'node:fs/promises';
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
} finally {
  await embedding.stop();
}
