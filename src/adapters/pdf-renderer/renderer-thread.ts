// The thread that prints (threaded.ts).
import { parentPort, workerData } from 'node:worker_threads';
import { ChromiumPdfRenderer } from './chromium.js';
import type { FromRenderer, RendererThreadData, ToRenderer } from './threaded.js';

if (parentPort === null) throw new Error('Not a thread');
const port = parentPort;
const tell = (message: FromRenderer): void => port.postMessage(message);
const renderer = new ChromiumPdfRenderer({
  ...(workerData as RendererThreadData),
  notStarted: (error) => tell({ kind: 'not-started', error }),
});

port.on('message', (message: ToRenderer) => void serve(message));

async function serve(message: ToRenderer): Promise<void> {
  if (message.kind === 'render') {
    const { id, html, environment } = message;
    tell({ kind: 'rendered', id, rendered: await renderer.render(html, environment) });
  } else if (message.kind === 'check') await renderer.check();
  else {
    await renderer.close();
    port.close();
  }
}
