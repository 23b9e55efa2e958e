// The guides that are served as pages and as Markdown (docs/contract/general.md#documents).
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { GUIDES, serveGuides } from '../../../src/surfaces/documents/guides.js';

const ALL = Object.values(GUIDES).flatMap((guides) => Object.keys(guides));
const DOCUMENTS = [{ name: 'platform', title: 'Platform API' }];

let server: FastifyInstance;
const get = async (url: string): Promise<{ status: number; type: unknown; text: string; policy: unknown }> => {
  const { statusCode, headers, body } = await server.inject({ url });
  const { 'content-type': type, 'content-security-policy': policy } = headers;
  return { status: statusCode, type, text: body, policy };
};

beforeAll(async () => {
  server = fastify();
  serveGuides(server, { folder: 'docs', written: {}, publicUrl: 'https://api.example.test', documents: DOCUMENTS });
  await server.ready();
});

describe('the list of guides', () => {
  it('has every page of the contract and every how-to', () => {
    const pages = ['contract', 'how-to'].flatMap((folder) =>
      readdirSync(`docs/${folder}`).map((file) => `${folder}/${file.replace('.md', '')}`),
    );
    expect(ALL).toEqual(expect.arrayContaining(pages));
  });

  it('has only files that the image has', () => {
    const copied = [...readFileSync('Dockerfile', 'utf8').matchAll(/^COPY (docs\/.+) \S+$/gm)].flatMap(([, files]) =>
      files!.split(' '),
    );
    expect(readFileSync('Dockerfile', 'utf8')).toMatch(/^COPY CHANGELOG\.md \.\/$/m);
    for (const name of ALL.filter((one) => one !== 'CHANGELOG'))
      expect([
        name,
        copied.some((file) => `docs/${name}.md` === file || `docs/${name}`.startsWith(`${file}/`)),
      ]).toEqual([name, true]);
  });
});

describe('a guide', () => {
  it.each(ALL)('is served as Markdown and as a page without a script: %s', async (name) => {
    const markdown = await get(`/docs/${name}.md`);
    expect([markdown.status, markdown.type]).toEqual([200, 'text/markdown; charset=utf-8']);
    const page = await get(`/docs/${name}`);
    expect([page.status, page.type]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.policy).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    // Code without any tag in it is text, such as a property `onError` of a React component.
    expect(page.text.replace(/<code>[^<]*<\/code>/g, '')).not.toMatch(/<script|\son\w+=/);
  });

  it('has the text of its file, without pictures and without links to files that are not served', async () => {
    const file = readFileSync('docs/how-to/embed-the-component.md', 'utf8');
    const { text } = await get('/docs/how-to/embed-the-component.md');
    expect([file.includes('<img src='), text.includes('<img src='), text.includes('](../embedded)')]).toEqual([
      true,
      false,
      false,
    ]);
    expect((await get('/docs/contract/server.md')).text).toBe(readFileSync('docs/contract/server.md', 'utf8'));
  });

  it('leads with each link to a place that exists', async () => {
    const broken: string[] = [];
    for (const from of [...ALL, 'guides']) {
      const { text } = await get(`/docs/${from}`);
      for (const [, href = ''] of text.matchAll(/<a href="([^"]*)"/g)) {
        const { pathname, hash, hostname } = new URL(href, `https://here.test/docs/${from}`);
        if (hostname !== 'here.test' || pathname === '/docs' || pathname.startsWith('/openapi')) continue;
        const target = await get(pathname);
        const id = `id="${decodeURIComponent(hash.slice(1))}"`;
        if (target.status !== 200 || (hash !== '' && !target.text.includes(id))) broken.push(`${from}: ${href}`);
      }
      if (from === 'guides') continue;
      const markdown = (await get(`/docs/${from}.md`)).text.replace(/^```[^]*?^```$/gm, '');
      for (const [, href = ''] of markdown.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)) {
        const { pathname, hostname } = new URL(href, `https://here.test/docs/${from}.md`);
        if (hostname === 'here.test' && !pathname.startsWith('/openapi') && (await get(pathname)).status !== 200)
          broken.push(`${from}.md: ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it.each([
    '/docs/architecture.md',
    '/docs/adr/0001-embedded-event-store-by-default.md',
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e/package.json',
    '/docs/contract/..%2f..%2fpackage.json',
    '/docs/contract',
  ])('is only one of the list: 404 for %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});

describe('llms.txt', () => {
  it('lists every guide and every OpenAPI document by its address', async () => {
    const { status, type, text } = await get('/llms.txt');
    expect([status, type]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(text).toMatch(/^# .+\n\n> .+\n\n## /);
    for (const name of ALL) expect(text).toContain(`](https://api.example.test/docs/${name}.md): `);
    expect(text).toContain('[Platform API](https://api.example.test/openapi/platform.json): ');
    expect(text.indexOf('## Optional')).toBeGreaterThan(text.indexOf('## OpenAPI documents'));
  });
});
