// Run by `npm run docs`: writes the generated documents below the current folder.
import { writeFileSync } from 'node:fs';
import { errorsDocument } from './document.js';

writeFileSync('docs/errors.md', errorsDocument());
