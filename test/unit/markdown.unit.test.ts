// The Markdown forms that pages are made of.
import { describe, expect, it } from '@jest/globals';
import { htmlOf } from '../../src/surfaces/documents/markdown.js';

const page = (markdown: string): string => htmlOf(markdown, (written) => (written === 'gone.md' ? null : written));

describe('Markdown', () => {
  it.each([
    ['a heading has an id', '## `PUT` with a key', '<h2 id="put-with-a-key"><code>PUT</code> with a key</h2>'],
    ['a paragraph ends at an empty line', 'one\ntwo\n\nthree', '<p>one\ntwo</p>\n<p>three</p>'],
    ['marks in a line', '**b** *e* `**c**`', '<p><b>b</b> <em>e</em> <code>**c**</code></p>'],
    ['a star in a word is a star', '`a` 2*3 /openapi*', '<p><code>a</code> 2*3 /openapi*</p>'],
    ['markup is text', 'a <x onload="y"> & `<z>`', '<p>a &lt;x onload=&quot;y&quot;> &amp; <code>&lt;z></code></p>'],
    ['a link', '[a `b`](c.md#d)', '<p><a href="c.md#d">a <code>b</code></a></p>'],
    ['a link without an address is text', '[a](gone.md)', '<p>a</p>'],
    ['an anchor stays', '- <a id="x"></a>y', '<ul>\n<li><a id="x"></a>y</li>\n</ul>'],
    ['a list with lines that go on', '- a\n  b\n- c', '<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>'],
    ['a list in a list', '1. a\n   - b\n2. c', '<ol>\n<li>a\n<ul>\n<li>b</li>\n</ul></li>\n<li>c</li>\n</ol>'],
    ['a list below a line', 'a:\n- b', '<p>a:</p>\n<ul>\n<li>b</li>\n</ul>'],
    ['code between fences', '```sh\n# <a>\n\n[x](y)\n```', '<pre><code># &lt;a>\n\n[x](y)\n</code></pre>'],
    ['code by its indent', 'a\n\n    b\n', '<p>a</p>\n<pre><code>b\n</code></pre>'],
    ['a quotation is a paragraph', '> a', '<p>a</p>'],
    ['raw HTML is left out', '<p>\n<img src="x">\n</p>\n\na', '<p>a</p>'],
    [
      'a table whose rows have ids, with a bar in a cell',
      '| a | b |\n|---|---|\n| `X` | `c\\|d` |\n| `X` | |',
      '<table>\n<tr><th>a</th><th>b</th></tr>\n<tr id="X"><td><code>X</code></td><td><code>c|d</code></td></tr>\n<tr><td><code>X</code></td><td></td></tr>\n</table>',
    ],
  ])('%s', (_case, markdown, html) => {
    expect(page(markdown)).toBe(html);
  });
});
