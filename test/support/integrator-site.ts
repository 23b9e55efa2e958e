// A service, and an integrator with its own origin. The integrator's pages load the host script.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from './redis.js';
import { type Credentials, Service, type StartOptions } from './service.js';

export interface HostDocument {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class IntegratorSite {
  private constructor(
    readonly service: Service,
    readonly credentials: Credentials,
    /** The origin of the integrator's pages, which the demo keys allow. */
    readonly origin: string,
    private readonly server: Server,
    /** The integrator's pages, by path. */
    private readonly pages: Map<string, HostDocument>,
  ) {}

  /** Starts a service for this site alone. */
  static async start(env: Readonly<Record<string, string>> = {}, options: StartOptions = {}): Promise<IntegratorSite> {
    return IntegratorSite.of(await Service.start({ DEMO_PORT: String(await freePort()), ...env }, options));
  }

  /** The service must have been started with a free DEMO_PORT. */
  static async of(service: Service): Promise<IntegratorSite> {
    const pages = new Map<string, HostDocument>();
    const server = createServer((request, response) => {
      const page = pages.get(new URL(request.url ?? '/', 'http://host').pathname);
      response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html', ...page?.headers });
      response.end(page?.html);
    });
    await new Promise<void>((resolve) => server.listen(Number(service.env['DEMO_PORT']), 'localhost', resolve));
    const { port } = server.address() as AddressInfo;
    const site = new IntegratorSite(service, await service.credentials(), `http://localhost:${port}`, server, pages);
    return site.serving('/', {});
  }

  /** Adds another page of the integrator. */
  serving(path: string, { html = this.hostPage(), headers = {} }: Partial<HostDocument>): this {
    this.pages.set(path, { html, headers });
    return this;
  }

  /** A page as an integrator writes it. */
  hostPage(body = '<main id="place"></main>'): string {
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<script src="${this.service.baseUrl}/embed/v1/service.js"></script></head><body>${body}</body></html>`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await this.service.stop();
  }
}
