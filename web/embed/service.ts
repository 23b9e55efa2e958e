// The host script: what an integrator's page calls. It exchanges the publishable key, puts the frame into the page and passes on what
// the frame tells. No framework, no storage, nothing personal.
import { connect, PortMessenger } from 'penpal';
import { type FrameMethods, PORT_MESSAGE, type PageMethods } from '../contract/messages.js';
import type { ServiceGlobal } from '../contract/options.js';

/** `scriptOrigin`: where the host script was loaded from, where that is known; the address of the service by default. */
export function hostScript(scriptOrigin: string | null): ServiceGlobal {
  return {
    async init(publishableKey, options = {}) {
      const baseUrl = options.baseUrl ?? scriptOrigin ?? '';
      const embeddedUrl = options.embeddedUrl ?? `${baseUrl}/embedded`;
      const reply = await fetch(`${baseUrl}/auth/token/exchange`, {
        method: 'POST',
        headers: { 'X-Publishable-Key': publishableKey },
      });
      const { token, expires_in } = (await reply.json()) as { token: string; expires_in: number };
      return {
        mount(view, { selector = '', unitAddress, ...rest }) {
          const place = document.querySelector(selector);
          const frame = document.createElement('iframe');
          frame.src = `${embeddedUrl}/?key=${encodeURIComponent(publishableKey)}`;
          frame.allow = 'payment';
          frame.title = 'Service';
          const methods: PageMethods = {
            emit(event) {
              const { name, payload } = event as { name: 'onReady'; payload: never };
              rest[name]?.(payload);
            },
            token: () => Promise.resolve(null),
          };
          frame.addEventListener('load', () => {
            const { port1, port2 } = new MessageChannel();
            frame.contentWindow?.postMessage(PORT_MESSAGE, new URL(embeddedUrl).origin, [port2]);
            const messenger = new PortMessenger({ port: port1 });
            const connection = connect<FrameMethods>({ messenger, methods, timeout: 30_000 });
            void connection.promise.then((remote) =>
              remote.start({ view, unitAddress, token: { token, expiresAt: Date.now() + expires_in * 1_000 } }),
            );
          });
          place?.append(frame);
          return Promise.resolve({ unmount: () => frame.remove() });
        },
        on: () => () => undefined,
        destroy: () => undefined,
      };
    },
  };
}
