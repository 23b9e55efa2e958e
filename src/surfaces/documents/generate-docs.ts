// `npm run docs` runs this file. It writes the collection for Bruno below the current folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { RoutesModule } from '../../modules/routes.module.js';
import { type ApiDocument, brunoCollection } from './bruno.js';
import { offlineDocuments } from './offline-documents.js';

const { all: _, ...documents } = await offlineDocuments(RoutesModule, 'http://localhost:3000');
for (const [path, text] of brunoCollection(documents as Record<string, ApiDocument>)) {
  mkdirSync(dirname(`docs/bruno/${path}`), { recursive: true });
  writeFileSync(`docs/bruno/${path}`, text);
}
