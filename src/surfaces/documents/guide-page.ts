// The page around a guide. It has no script, and its only style is in it.
import { createHash } from 'node:crypto';
import { escaped } from './markdown.js';

const STYLE = `:root{color-scheme:light dark;font:16px/1.6 system-ui,sans-serif}body{margin:0}
nav{display:flex;gap:1.25rem;overflow-x:auto;white-space:nowrap;padding:.8rem 1.25rem;border-bottom:1px solid #8884;font-size:14px}
main{max-width:54rem;margin:auto;padding:1rem 1.25rem 4rem}a{color:LinkText}nav a{color:CanvasText;text-decoration:none}a:hover{text-decoration:underline}
h1,h2,h3{line-height:1.25;scroll-margin-top:1rem}h2{margin-top:2.2em}
pre{overflow-x:auto;padding:.8rem 1rem;border:1px solid #8884;border-radius:6px;line-height:1.45}code{font-size:.88em;overflow-wrap:anywhere}pre code{overflow-wrap:normal}
table{border-collapse:collapse;display:block;overflow-x:auto;font-size:.94em}td,th{padding:.4rem .7rem;text-align:left;vertical-align:top;
border-bottom:1px solid #8884}td:first-child code{white-space:nowrap}tr:target{background:#fd08;scroll-margin-top:1rem}`;

export const GUIDE_POLICY = [
  "default-src 'none'",
  'img-src data:',
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `root`: the relative way from the page's folder to the folder of `/docs`. */
export function guidePage(title: string, html: string, root: string): string {
  const up = `${root}docs`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>${escaped(title)}</title><style>${STYLE}</style>
<nav aria-label="Documents"><a href="${up}"><b>API reference</b></a><a href="${up}/quick-start">Quick start</a><a href="${up}/guides">Guides</a><a href="${up}/errors">Errors</a><a href="${up}/events">Events</a></nav>
<main>${html}</main></html>`;
}
