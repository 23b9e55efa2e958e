// npm run bench [-- a | d | f | g | h | i | k | l | m | n | o | p | q] measures the figures that have targets. Ratios compare
// values within one run.
import 'reflect-metadata';
import { cpus } from 'node:os';
import { benchAnchors } from './anchors.js';
import { benchDeadReceiver } from './dead-receiver.js';
import { benchEmbedding } from './embedding.js';
import { benchEventStore } from './event-store.js';
import { benchGrowth } from './growth.js';
import { benchLightLoad } from './light-load.js';
import { benchListPages } from './list-pages.js';
import { benchLogCopy } from './log-copy.js';
import { benchPayments } from './payments.js';
import { benchRebuild } from './rebuild.js';
import { benchRedisMemory } from './redis-memory.js';
import { benchProcesses } from './processes.js';
import { benchVendorTrouble } from './vendor-trouble.js';
import { benchWebhooks } from './webhooks.js';

const chosen = process.argv.slice(2);
const wanted = (name: string): boolean => chosen.length === 0 || chosen.includes(name);

process.stdout.write(`${cpus().length} cores, Node ${process.version}; persistence on everywhere; medians\n`);
if (wanted('a')) await benchEventStore();
if (wanted('d')) await benchRebuild();
if (wanted('f')) await benchPayments();
if (wanted('g')) await benchWebhooks();
if (wanted('h')) await benchDeadReceiver();
if (wanted('i')) await benchEmbedding();
if (wanted('l')) await benchLogCopy();
if (wanted('m')) await benchProcesses();
if (wanted('n')) {
  await benchRedisMemory();
  await benchGrowth();
}
if (wanted('o')) await benchLightLoad();
if (wanted('p')) await benchListPages();
if (wanted('q')) await benchVendorTrouble();
if (wanted('k')) await benchAnchors(chosen.filter((argument) => argument.length > 1));
process.exit(0);
