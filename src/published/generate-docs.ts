// Run by `npm run docs`: writes the generated documents below the current folder.
import { writeFileSync } from 'node:fs';
import { eventsDocument } from './events-document.js';

writeFileSync('docs/events.md', eventsDocument());
