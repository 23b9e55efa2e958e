// `npm run docs` runs this file. The program writes the generated document below the current folder.
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { SURFACES } from './all.js';
import { errorsDocument } from './errors-document.js';

writeFileSync('docs/errors.md', errorsDocument(SURFACES.all));
