// The frame application: waits for the page that embeds it, and shows the view that it asks for.
import { connect, PortMessenger } from 'penpal';
import { render } from 'preact';
import type { FrameSettings } from '../contract/frame-settings.js';
import { type FrameMethods, type PageMethods, PORT_MESSAGE } from '../contract/messages.js';

const settings = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name=service-settings]')?.content ?? '',
) as FrameSettings;

addEventListener('message', function listen({ source, origin, data, ports: [port] }) {
  if (source !== parent || !settings.allowedOrigins.includes(origin) || data !== PORT_MESSAGE || !port) return;
  removeEventListener('message', listen);
  const methods: FrameMethods = {
    start() {
      render(<h1>Hello</h1>, document.body);
      void connection.promise.then((page) => page.emit({ name: 'onReady', payload: { view: 'screening' } }));
    },
    renewed: () => undefined,
  };
  const connection = connect<PageMethods>({ messenger: new PortMessenger({ port }), methods });
});
