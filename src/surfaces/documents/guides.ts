// The guides that this service serves beside the reference: pages for people, Markdown for programs, and `llms.txt`
// (docs/contract/general.md#documents).
import type { FastifyInstance } from 'fastify';
import { readPage } from '../../platform/http/static-files.js';
import type { ServedDocument } from '../openapi.js';
import { guidePage, GUIDE_POLICY } from './guide-page.js';
import { htmlOf } from './markdown.js';

/**
 * Every file that is served, by its path in `docs/` without the ending, with what it holds. The image has exactly these files. The changelog is in the
 * folder above.
 */
export const GUIDES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Start: {
    'quick-start': 'One renter through every API, with curl. Each block can be pasted.',
    sandbox: 'The vendors of the test environment: test persons, cards, codes and faults.',
  },
  'The APIs': {
    'contract/general': 'The rules of every API: ids, idempotency, errors, bodies, limits.',
    'contract/platform': 'For pages in a browser: token, screening, payment, report, sharing, income.',
    'contract/server': 'For your servers: session grants, statuses, reports, refunds, the event feed, the request log.',
    'contract/direct': 'For servers that hold the personal data themselves.',
    'contract/webhooks': 'Events to your endpoint, their signatures, and the management of the endpoint.',
    'contract/changes': 'Which changes may come, with which notice, and how a client learns of them.',
  },
  'Look up': {
    errors: 'Every error code with its status and its reason.',
    events: 'Every event with its fields.',
    CHANGELOG: 'Every change that callers, pages and operators notice.',
  },
  'How to': {
    'how-to/embed-the-component': 'A page with the component in it, from the script tag to the callbacks.',
    'how-to/receive-webhooks': 'A receiver that checks signatures and misses nothing.',
    'how-to/test-webhooks-locally': 'Events on your own machine: forward, trigger, and follow the request log.',
  },
  // By convention, readers of `llms.txt` may leave out this section.
  Optional: {
    'how-to/run-in-production': 'The settings, limits and alarms of a service in production.',
    operations: "An operator's questions, and the pages that answer them.",
    'operations/install': 'Event stores, vendors of an account, payments, the component, PDFs, upgrades.',
    'operations/several-processes': 'Roles apart, probes, restarts, logs.',
    'operations/backups-and-restore': 'Backups, and erased people who stay erased.',
    'operations/erasure-and-keys': 'How to erase a person, end a block, and replace keys.',
    'operations/capacity': 'Disk, memory, queues and metrics.',
    'operations/alerts': 'What each alert means, and what to do about it.',
    'how-to/investigate-a-case': 'Twenty questions about a screening, each with a command or a page.',
    'how-to/replay-a-projection': 'Rebuild read models while the service runs.',
    'how-to/add-a-use-case': 'Extend the service by a command.',
    'how-to/add-a-listing': 'Extend the service by a list with a filter.',
    'how-to/add-a-vendor': 'Extend the service by a vendor.',
    'how-to/add-an-event-version': 'Change the shape of a stored event.',
    'how-to/extension-exercises': 'Five extensions, and the files that each touches.',
  },
};

export interface GuideOptions {
  /** The folder `docs` of the repository. A file that is missing there is not served. */
  readonly folder: string;
  /** Documents that the service writes itself, by their names. */
  readonly written: Readonly<Record<string, string>>;
  /** The public address of the service, without a trailing slash. */
  readonly publicUrl: string;
  /** The OpenAPI documents. */
  readonly documents: readonly ServedDocument[];
}

/** Each file is read once and has a route of its own, so that no path reaches another file. */
export function serveGuides(fastify: FastifyInstance, { folder, written, publicUrl, documents }: GuideOptions): void {
  const texts = new Map<string, string>();
  for (const name of Object.values(GUIDES).flatMap(Object.keys)) {
    const text = written[name] ?? readPage(`${folder}/${name === 'CHANGELOG' ? '../' : ''}${name}.md`);
    if (text !== null) texts.set(name, text);
  }
  const send = (path: string, type: string, content: string): void => {
    fastify.get(path, { config: { authenticator: null, readsOnly: true } }, (_request, reply) =>
      reply
        .type(`${type}; charset=utf-8`)
        .headers({ 'content-security-policy': GUIDE_POLICY, 'cache-control': 'no-cache' })
        .send(content),
    );
  };
  for (const [name, text] of texts) {
    const markdown = withLinksTo(texts, name, text);
    send(`/docs/${name}.md`, 'text/markdown', markdown);
    send(`/docs/${name}`, 'text/html', pageOf(name, markdown));
  }
  send('/llms.txt', 'text/markdown', indexOf(texts, documents, publicUrl));
  send('/docs/guides', 'text/html', pageOf('guides', indexOf(texts, documents, '..')));
}

function pageOf(name: string, markdown: string): string {
  const toPage = (written: string): string => written.replace(/^(?!https?:)([^#]+)\.md(?=#|$)/, '$1');
  return guidePage(titleOf(markdown), htmlOf(markdown, toPage), '../'.repeat(name.split('/').length));
}

/** Pictures, and links to files that are not served, are left out. The text of a link stays, and blocks of code stay as they are. */
function withLinksTo(texts: ReadonlyMap<string, string>, from: string, markdown: string): string {
  const isServed = (written: string): boolean => {
    const { protocol, pathname } = new URL(written, `file:///docs/${from}.md`);
    const [, name = ''] = /^\/docs\/(.+)\.md$/.exec(pathname) ?? [];
    return protocol === 'https:' || texts.has(name);
  };
  return markdown
    .split(/(^```[^]*?^```$)/m)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part
            .replace(/^<p>\n[^]*?<\/p>\n\n/gm, '')
            .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (link, label: string, written: string) =>
              isServed(written) ? link : label,
            ),
    )
    .join('');
}

/** The list of all guides in the form of https://llmstxt.org. */
function indexOf(texts: ReadonlyMap<string, string>, documents: GuideOptions['documents'], base: string): string {
  const line = (title: string, path: string, about: string): string => `- [${title}](${base}${path}): ${about}`;
  const sections = Object.entries(GUIDES).map(([heading, guides]) => {
    const lines = Object.entries(guides).flatMap(([name, about]) => {
      const text = texts.get(name);
      return text === undefined ? [] : [line(titleOf(text), `/docs/${name}.md`, about)];
    });
    return [`## ${heading}`, '', ...lines].join('\n');
  });
  const shapes = documents.map(({ name, title }) =>
    line(title, `/openapi/${name}.json`, 'the shape of every route as OpenAPI.'),
  );
  const [optional = '', ...rest] = sections.reverse();
  return [
    '# Screening service',
    '> Identity screening, credit reports and payments for rental applications.',
    ...rest.reverse(),
    ['## OpenAPI documents', '', ...shapes, line('All of them', '/openapi.json', 'in one document.')].join('\n'),
    optional,
    '',
  ].join('\n\n');
}

function titleOf(markdown: string): string {
  return /^# (.*)$/m.exec(markdown)?.[1] ?? '';
}
