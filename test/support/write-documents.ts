// Writes the documents of the APIs into the given folder (npm run openapi).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocuments } from './documents.js';

const [folder = '.'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
for (const [name, document] of Object.entries(await openApiDocuments()))
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(document, null, 2));
