// A frame that a test controls. The double is served instead of the real frame and speaks the port's protocol itself.
// The double can also say things that the real frame never says.
import type { Frame, Page } from 'playwright-core';

/** Penpal's messages, written by the test. The id sorts above every other id, so this end leads the handshake. */
const SCRIPT = `
  const said = (self.said = []), answers = (self.answers = new Map());
  self.ports = [];
  const post = (message) => self.port.postMessage({ namespace: 'penpal', ...message });
  self.call = (methodPath, ...args) => new Promise((resolve) => {
    const id = String(answers.size);
    answers.set(id, resolve);
    post({ type: 'CALL', id, methodPath, args });
  });
  addEventListener('message', ({ data, origin, ports: [port] }) => {
    if (data !== 'service:port') return;
    self.ports.push(origin);
    self.port = port;
    port.onmessage = ({ data: message }) => {
      if (message.type === 'SYN' && !self.greeted) {
        self.greeted = true;
        post({ type: 'SYN', participantId: '~' });
        post({ type: 'ACK1', methodPaths: [['start'], ['renewed']] });
      } else if (message.type === 'CALL') {
        said.push([message.methodPath.join('.'), ...message.args]);
        post({ type: 'REPLY', callId: message.id, value: undefined });
      } else if (message.type === 'REPLY') answers.get(message.callId)?.(message);
      else if (message.type === 'DESTROY') said.push(['destroyed']);
    };
  });
`;

export const FRAME_DOUBLE = `<!doctype html><meta charset="utf-8"><script>${SCRIPT}</script>`;

/** The page's reply to a call through the port. */
export interface Reply {
  readonly value?: any;
  readonly isError?: boolean;
}

export class FrameDouble {
  private constructor(readonly frame: Frame) {}

  /** Replaces every frame that the page loads later with a double. */
  static async serveIn(page: Page): Promise<void> {
    await page.route(isFramePage, (route) => route.fulfill({ contentType: 'text/html', body: FRAME_DOUBLE }));
  }

  /** Resolves with the double in the element when the page has told the double what to show. */
  static async startedIn(page: Page, selector = '#place'): Promise<FrameDouble> {
    const element = await page.waitForSelector(`${selector} iframe`, { state: 'attached' });
    const frame = await element.contentFrame();
    if (frame === null) throw new Error('The element holds no frame.');
    const double = new FrameDouble(frame);
    await double.hears('start');
    return double;
  }

  /** Waits for a call of the method and returns its argument. */
  async hears(method: string, times = 1): Promise<any> {
    await this.frame.waitForFunction(
      ([method, times]) => (globalThis as any).said?.filter(([name]: [string]) => name === method).length >= times,
      [method, times] as const,
      // A browser does not draw a frame that is out of sight, and gives the frame no animation frames.
      { polling: 50 },
    );
    const said: [string, unknown][] = await this.frame.evaluate(() => (globalThis as any).said);
    return said.filter(([name]) => name === method)[times - 1]?.[1];
  }

  call(method: string | readonly unknown[], ...args: unknown[]): Promise<Reply> {
    const path = typeof method === 'string' ? [method] : method;
    return this.frame.evaluate(([path, args]) => (globalThis as any).call(path, ...args), [path, args] as const);
  }

  /** Sends the page a message. Resolves when the page has received it. */
  async emit(name: unknown, payload: unknown): Promise<void> {
    await this.call('emit', { name, payload });
  }
}

export const isFramePage = ({ pathname, searchParams }: URL): boolean =>
  pathname === '/embedded/' && searchParams.has('key');
