// Installs and builds parts that are missing or out of date, compared by content, so that a run without changes takes milliseconds. Plain Node: this
// runs before any dependency is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Problem } from './problem.mjs';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const at = (...parts) => join(ROOT, ...parts);

/** False in the image, which has no sources and keeps the packages and compiled code from its build. */
const isCheckout = existsSync(at('src'));

export function ensureNodeVersion() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    throw new Problem(`Node 20.19 or newer is needed; this is ${process.versions.node}.`);
}

export function ensureInstalled() {
  ensureNodeVersion();
  if (isCheckout) ensurePackages(ROOT);
}

/** The folder of the programs that check the OpenAPI documents. */
export function ensureOpenApiTools() {
  const folder = at('tools', 'openapi');
  ensurePackages(folder);
  return folder;
}

/** The folder of the program that changes the wire files of vendors. The program needs Node 22. */
export function ensureMutationTool() {
  const folder = at('tools', 'mutation');
  ensurePackages(folder);
  return folder;
}

/** The folder of the image's Node version, installed from packages. */
export function ensureNode24() {
  const folder = at('tools', 'node24');
  ensurePackages(folder);
  const bin = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');
  if (!existsSync(bin)) throw new Problem(`No package brings Node 24 to ${process.platform} on ${process.arch}.`);
  return bin;
}

/** Runs `npm ci` unless node_modules already has exactly the packages of the lock file. */
function ensurePackages(folder) {
  if (isInstalled(folder)) return;
  console.error(`Installing dependencies (npm ci) ${folder === ROOT ? '' : `in ${relative(ROOT, folder)} `}...`);
  // The build needs development dependencies, so NODE_ENV=production must not exclude them.
  const args = ['ci', '--include=dev', '--no-progress', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const result = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], { cwd: folder, stdio: ['ignore', 2, 2] })
    : spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] });
  if (result.signal) throw new Problem('Interrupted.');
  if (result.status !== 0) throw new Problem('npm ci failed; its message is above.');
}

function isInstalled(folder) {
  // npm writes this copy of the tree last, so it is missing after an interrupted install.
  const written = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(written)) return false;
  const wanted = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages;
  const present = JSON.parse(readFileSync(written, 'utf8')).packages;
  const wantedIsPresent = Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = present[path];
    // Packages for other platforms are optional and absent.
    return found === undefined
      ? entry.optional === true || entry.devOptional === true
      : found.version === entry.version && found.integrity === entry.integrity;
  });
  return wantedIsPresent && Object.keys(present).every((path) => path in wanted);
}

/** Compiles src/ and sandbox/ to dist/, and bundles web/ to dist-web/, unless the output was built from exactly these files. */
export function ensureBuilt() {
  ensureWebBuilt();
  ensureCompiled({
    outDir: 'dist',
    sources: ['src', 'sandbox'],
    settings: ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'],
    compile: ['node_modules/@nestjs/cli/bin/nest.js', 'build'],
  });
}

function ensureWebBuilt() {
  if (!isCheckout) return;
  const fingerprint = fingerprintOf([
    ...filesUnder('web'),
    ...filesUnder('packages/react'),
    'scripts/web.mjs',
    'package-lock.json',
  ]);
  // Bundled files have a hash in their names, so the stamp lists them.
  const stamp = at('dist-web', '.build-stamp');
  const [madeFrom, ...made] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split('\n') : [];
  if (madeFrom === fingerprint && made.every((file) => existsSync(at(file)))) return;
  run('dist-web', ['scripts/web.mjs']);
  writeFileSync(stamp, [fingerprint, ...filesUnder('dist-web')].join('\n'));
}

/** Compiles src/, sandbox/, test/bench/ and their imports to dist-bench/, unless the output was built from exactly these files. */
export function ensureBenchBuilt() {
  ensureCompiled({
    outDir: 'dist-bench',
    sources: ['src', 'sandbox', 'test/bench', 'test/support', 'web/contract'],
    settings: ['tsconfig.json', 'tsconfig.build.json', 'tsconfig.bench.json'],
    compile: ['node_modules/typescript-7/bin/tsc', '-p', 'tsconfig.bench.json'],
  });
}

/** The certification of vendors runs in their tests, and tsconfig.build.json leaves it out. */
const IN_TESTS_ONLY = /^src\/(?:vendor-kit\/certification\/|vendors\/[^/]+\/vendor\.test\.ts$)/;

function ensureCompiled({ outDir, sources, settings, compile }) {
  if (!isCheckout) return;
  const files = sources.flatMap((folder) => filesUnder(folder));
  const fingerprint = fingerprintOf([...files, ...settings, 'package-lock.json']);
  const outputs = files
    .filter((file) => /(?<!\.d)\.ts$|\.mjs$/.test(file) && !IN_TESTS_ONLY.test(file))
    .map((file) => join(outDir, file).replace(/\.ts$/, '.js'));
  const stamp = at(outDir, '.build-stamp');
  const allThere = outputs.every((file) => existsSync(at(file)));
  if (allThere && existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint) return;

  // The compiler's incremental state assumes that its outputs still exist. Without that state, the compiler writes all outputs again.
  rmSync(stamp, { force: true });
  if (!allThere) rmSync(at(outDir, '.tsbuildinfo'), { force: true });
  run(outDir, compile);
  for (const file of files.filter((name) => /\.mjs$|\/certification\.json$/.test(name)))
    cpSync(at(file), at(outDir, file));
  removeOrphans(outDir, new Set(outputs));
  mkdirSync(at(outDir), { recursive: true });
  writeFileSync(stamp, fingerprint);
}

function run(outDir, compile) {
  console.error(`Building ${outDir}/ ...`);
  const result = spawnSync(process.execPath, compile, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (result.signal) throw new Problem('Interrupted.');
  if (result.status !== 0) throw new Problem(`The build of ${outDir}/ failed; the compiler's messages are above.`);
}

/** Removes outputs whose sources were deleted. The compiler leaves such outputs, and Node would still load them. */
function removeOrphans(outDir, outputs) {
  for (const file of filesUnder(outDir)) {
    const script = file.replace(/\.map$/, '');
    if (/\.m?js$/.test(script) && !outputs.has(script)) rmSync(at(file));
  }
}

function filesUnder(folder) {
  if (!existsSync(at(folder))) return [];
  return readdirSync(at(folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

function fingerprintOf(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(at(file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}
