// The root page of the service, and the page of error codes to which every error links.
import type { FastifyInstance } from 'fastify';
import { SURFACES } from './all.js';
import { errorsDocument } from './errors-document.js';

export interface Documented {
  /** With null, the service answers its root with 404. */
  readonly docsUrl: string | null;
  /** Whether this service serves the documents itself. */
  readonly servesDocs: boolean;
}

export function serveStart(fastify: FastifyInstance, { docsUrl, servesDocs }: Documented): void {
  const open = { config: { authenticator: null, readsOnly: true } } as const;
  if (docsUrl !== null)
    fastify.get('/', open, (_request, reply) =>
      reply.header('link', `<${docsUrl}>; rel="service-doc"`).send({
        documents: docsUrl,
        errors: `${docsUrl}/errors`,
        health: '/health/ready',
      }),
    );
  if (!servesDocs) return;
  const page = pageOf(errorsDocument(SURFACES.all));
  fastify.get('/docs/errors', open, (_request, reply) => reply.type('text/html; charset=utf-8').send(page));
}

/** A page made from the few Markdown forms that the generated document uses. The first row of each code has an anchor. */
function pageOf(markdown: string): string {
  const linked = new Set<string>();
  const row = (line: string): string => {
    const cells = line.slice(2, -2).split(' | ').map(inline);
    const name = (cells[0] ?? '').replace(/<[^>]*>/g, '');
    const id = linked.has(name) ? '' : ` id="${name}"`;
    linked.add(name);
    return `<tr${id}>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  };
  const block = (text: string): string => {
    const [first = '', rule = '', ...rows] = text.split('\n');
    const [, level, title = ''] = /^(#+) (.*)$/.exec(first) ?? [];
    if (level !== undefined) return `<h${level.length}>${inline(title)}</h${level.length}>`;
    if (!rule.startsWith('|--')) return `<p>${inline(text)}</p>`;
    const heads = first.slice(2, -2).split(' | ');
    return `<table><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr>${rows.map(row).join('\n')}</table>`;
  };
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Errors</title><style>${STYLE}</style><main>${markdown.trim().split('\n\n').map(block).join('\n')}</main></html>`;
}

function inline(text: string): string {
  const safe = text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
  return safe.replace(/`([^`]*)`/g, '<code>$1</code>');
}

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}main{max-width:72rem;margin:auto;padding:1rem}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{padding:.4rem .7rem;text-align:left;vertical-align:top;
border-bottom:1px solid #8884}code{font-size:.9em}tr:target{background:#fd08;scroll-margin-top:1rem}`;
