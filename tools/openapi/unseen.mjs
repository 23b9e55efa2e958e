// `node tools/openapi/unseen.mjs <file>` lists what the documents say and no test has seen. The file is the one that OPENAPI_SEEN named for
// the tests. Run `npm run openapi` first.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const document = JSON.parse(readFileSync(join(import.meta.dirname, 'generated', 'all.json'), 'utf8'));
const seen = new Set(readFileSync(process.argv[2] ?? '', 'utf8').split('\n'));

/** All code words of a response; `-` for a success. */
function codesOf(node, found = new Set()) {
  if (typeof node !== 'object' || node === null) return found;
  for (const [name, value] of Object.entries(node)) {
    if (['code', 'errorCode'].includes(name) && Array.isArray(value?.enum))
      for (const code of value.enum) found.add(code);
    else codesOf(value, found);
  }
  return found;
}

const byCode = new Map();
let said = 0;
for (const [path, operations] of Object.entries(document.paths))
  for (const [method, { responses }] of Object.entries(operations))
    for (const [status, response] of Object.entries(responses)) {
      const { content = {} } = response.$ref
        ? document.components.responses[response.$ref.split('/').at(-1)]
        : response;
      const codes = [...codesOf(content)];
      for (const code of codes.length === 0 ? ['-'] : codes) {
        said += 1;
        const name = `${method.toUpperCase()} ${path}`;
        if (!seen.has(`${name} ${status} ${code}`))
          byCode.set(`${status} ${code}`, [...(byCode.get(`${status} ${code}`) ?? []), name]);
      }
    }
const unseen = [...byCode.values()].reduce((sum, names) => sum + names.length, 0);
console.log(`${said} pairs of status and code are said, ${unseen} of them were never seen:`);
for (const [code, names] of [...byCode].sort())
  console.log(`${code}: ${names.length > 5 ? `${names.length} operations` : names.join(', ')}`);
