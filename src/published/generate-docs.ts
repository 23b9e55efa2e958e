// `npm run docs` runs this file. The program writes the generated document below the current folder.
import { writeFileSync } from 'node:fs';
import { eventsDocument } from './events-document.js';

writeFileSync('docs/events.md', eventsDocument());
