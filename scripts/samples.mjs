// `npm run samples -- add <Event>[.<variant>] [<data as JSON>] [--after <sample>,...]` writes the stored sample of an event. The file is
// test/unit/upcasting/samples/<Event>[.<variant>].json, with the links of the chain and the resulting state.
//
// Without `--after`, the new sample follows the same sample as the first sample of its type. The new sample has the data of that first sample, with
// the given fields replaced. `--folder` is for tests.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';

const USAGE = 'npm run samples -- add <Event>[.<variant>] [<data as JSON>] [--after <sample>,<sample>]';

await runCommand(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { after: { type: 'string' }, folder: { type: 'string' } },
  });
  const [command, name, data] = positionals;
  if (command !== 'add' || name === undefined || positionals.length > 3) throw new Problem(USAGE);
  const folder = values.folder ?? join(ROOT, 'test', 'unit', 'upcasting', 'samples');
  const file = join(folder, `${name}.json`);
  if (existsSync(file)) throw new Problem(`${name} is there already, and a sample is never edited: name a variant.`);
  ensureInstalled();
  ensureBuilt();
  const samples = new Map(
    readdirSync(folder).map((entry) => [
      entry.replace(/\.json$/, ''),
      JSON.parse(readFileSync(join(folder, entry), 'utf8')),
    ]),
  );
  const sample = await made(samples, name, data === undefined ? {} : fields(data), values.after?.split(','));
  writeFileSync(file, `${JSON.stringify(sample, null, 2)}\n`);
  console.log(file);
});

async function made(samples, name, data, given) {
  const { genesisOf, linkTo } = await import(built('platform/audit/chain.js'));
  // `Type.v2.variant` belongs to the type `Type.v2`.
  const type = /^[^.]+(?:\.v\d+)?/.exec(name)[0];
  const alike = samples.get(type);
  const after = given ?? alike?.after;
  if (after === undefined) throw new Problem(`There is no sample of ${type} yet: say which it follows with --after.`);
  const before = after.map((one) => samples.get(one)?.event ?? missing(one));
  const last = before.at(-1);
  const like = last ?? alike?.event;
  if (like === undefined) throw new Problem('The first event of a category is written by hand, once.');
  const last12 = [...samples.values()].map(({ event }) => parseInt(event.id.slice(-12), 16));
  const number = (Math.max(...last12) + 1).toString(16);
  const id = `${like.id.slice(0, -12)}${number.padStart(12, '0')}`;
  const metadata = {
    ...like.metadata,
    schemaVersion: Number(/\.v(\d+)/.exec(type)?.[1] ?? 1),
    occurredAt: new Date(Date.parse(like.metadata.occurredAt) + 1_000).toISOString(),
    $correlationId: `request-${number}`,
    $causationId: `request-${number}`,
  };
  delete metadata.chain;
  const content = {
    id,
    stream: like.stream,
    revision: before.length,
    type,
    data: { ...alike?.event.data, ...data },
    metadata,
  };
  const chain = linkTo(last?.metadata.chain.hash ?? genesisOf(like.stream), content);
  const event = { ...content, metadata: { ...metadata, chain } };
  const decider = await deciderOf(event.stream.slice(0, event.stream.indexOf('-')));
  const state = [...before, event].reduce((known, one) => decider.evolve(known, one), decider.initial);
  return { after, event, state };
}

async function deciderOf(category) {
  const modules = join(ROOT, 'dist', 'src', 'modules');
  for (const file of readdirSync(modules, { recursive: true })) {
    if (!/^[^/\\]+[/\\]domain[/\\][^/\\]+\.js$/.test(file)) continue;
    for (const exported of Object.values(await import(pathToFileURL(join(modules, file)))))
      if (exported?.category === category && 'evolve' in exported) return exported;
  }
  throw new Problem(`No decider reads ${category}.`);
}

function built(path) {
  return pathToFileURL(join(ROOT, 'dist', 'src', path));
}

function missing(name) {
  throw new Problem(`There is no sample ${name}.`);
}

function fields(text) {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The error is printed below.
  }
  throw new Problem(`The data must be a JSON object. ${USAGE}`);
}
