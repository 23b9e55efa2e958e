// Bundles the browser code of web/ into dist-web/: the host script, the frame, the demo page, and the sandbox's files for browsers. `npm run build`
// runs this script, and so do `npm start` and `npm test` when a file is out of date.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import ts from 'typescript';
import { build } from 'vite';
import { ROOT } from './installation.mjs';

const WEB = join(ROOT, 'web');
const REACT = join(ROOT, 'packages', 'react');
const OUT = join(ROOT, 'dist-web');
const COMPRESSED = ['.js', '.mjs', '.css', '.html', '.svg'];

const SHARED = {
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
};
const TARGET = 'es2022';

/** The host script as one file, in one of its two forms, or the loader of the npm package. */
async function bundleHostScript(entry, fileName, format, folder = 'embed') {
  await build({
    ...SHARED,
    root: WEB,
    build: {
      target: TARGET,
      outDir: join(OUT, folder),
      emptyOutDir: false,
      // Vite does not shorten the long names in a library's modules.
      rolldownOptions: { output: { minify: true } },
      lib: { entry: join(WEB, 'embed', entry), formats: [format], name: 'Service', fileName: () => fileName },
    },
  });
}

/** Pages with their scripts and styles, under names that contain a hash. */
async function bundlePages(folder, { outDir = folder, pages = ['index.html'] } = {}) {
  await build({
    ...SHARED,
    root: join(WEB, folder),
    base: './',
    build: {
      target: TARGET,
      outDir: join(OUT, outDir),
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: false,
      rolldownOptions: { input: pages.map((page) => join(WEB, folder, page)) },
    },
  });
}

/** A vendor's script, which the sandbox provides. */
async function bundleVendorScript(folder, fileName) {
  await build({
    ...SHARED,
    root: WEB,
    build: {
      target: TARGET,
      outDir: join(OUT, 'sandbox'),
      emptyOutDir: false,
      lib: { entry: join(WEB, folder, 'main.ts'), formats: ['iife'], name: 'sandbox', fileName: () => fileName },
    },
  });
}

/** Gives the host script a name from its content, and writes the hash with which a page may check it. */
function writeManifest() {
  const folder = join(OUT, 'embed');
  const names = ['service.js', 'service.mjs'];
  const hash = createHash('sha256');
  for (const name of names) hash.update(readFileSync(join(folder, name)));
  const version = hash.digest('hex').slice(0, 16);
  mkdirSync(join(folder, version));
  for (const name of names) copyFileSync(join(folder, name), join(folder, version, name));
  const files = Object.fromEntries(
    names.map((name) => [
      name,
      {
        path: `/embed/v1/${version}/${name}`,
        integrity: `sha384-${createHash('sha384')
          .update(readFileSync(join(folder, name)))
          .digest('base64')}`,
      },
    ]),
  );
  writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify({ version, files }, null, 2)}\n`);
}

/**
 * Writes the types of the host script into one file: the types of web/contract that integrators see. These types have no code and import only each
 * other. The npm package has them too, with its loader. Another file declares the global that the script sets, for pages that load the script with a tag.
 */
function writeTypes() {
  const types = ['callbacks.ts', 'options.ts']
    .map((name) => readFileSync(join(WEB, 'contract', name), 'utf8').replace(/^import type .*\n/gm, ''))
    .join('\n');
  const withService = `${types}\nexport declare const Service: ServiceGlobal;\n`;
  writeFileSync(join(OUT, 'embed', 'service.d.ts'), withService);
  writeFileSync(
    join(OUT, 'npm', 'loader.d.ts'),
    `${withService}
/** Loads the host script of the service at this address once, and gives its global \`Service\`. After a failure, the next call tries again. */
export declare function loadScreening(baseUrl: string): Promise<ServiceGlobal>;
`,
  );
  writeFileSync(
    join(OUT, 'npm', 'global.d.ts'),
    `import type { ServiceGlobal } from './loader.js';

declare global {
  const Service: ServiceGlobal;
  interface Window {
    readonly Service: ServiceGlobal;
  }
}
`,
  );
}

/** Compiles the React components, and writes the folder that `npm publish dist-web/react` publishes. */
function writeReactPackage() {
  const source = readFileSync(join(REACT, 'src', 'screening.tsx'), 'utf8');
  const compilerOptions = { target: TARGET, module: 'esnext', jsx: 'react-jsx' };
  const options = { fileName: 'screening.tsx', compilerOptions, reportDiagnostics: true };
  const code = ts.transpileModule(source, options);
  Object.assign(compilerOptions, { declaration: true, isolatedDeclarations: true });
  const types = ts.transpileDeclaration(source, options);
  for (const { messageText } of [...code.diagnostics, ...types.diagnostics])
    throw new Error(`packages/react: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  writeFileSync(join(OUT, 'react', 'screening.js'), code.outputText);
  writeFileSync(join(OUT, 'react', 'screening.d.ts'), types.outputText);
  for (const name of ['package.json', 'README.md']) copyFileSync(join(REACT, name), join(OUT, 'react', name));
}

function compressAll() {
  for (const entry of readdirSync(OUT, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath ?? entry.path, entry.name);
    if (!entry.isFile() || !COMPRESSED.includes(extname(file))) continue;
    const content = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(content, {
        params: {
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          // The best quality takes seconds for the library of the reference page.
          [constants.BROTLI_PARAM_QUALITY]: content.length > 1_000_000 ? 9 : constants.BROTLI_MAX_QUALITY,
        },
      }),
    );
  }
}

rmSync(OUT, { recursive: true, force: true });
for (const folder of ['embed', 'npm', 'react']) mkdirSync(join(OUT, folder), { recursive: true });
await bundleHostScript('classic.ts', 'service.js', 'iife');
await bundleHostScript('module.ts', 'service.mjs', 'es');
await bundleHostScript('loader.ts', 'loader.mjs', 'es', 'npm');
await bundlePages('frame');
await bundlePages('demo');
await bundlePages('reference');
// The library in this page came with its licence.
copyFileSync(join(ROOT, 'node_modules/@scalar/fastify-api-reference/LICENSE'), join(OUT, 'reference/LICENSE'));
await bundlePages('sandbox-processor/pages', {
  outDir: 'sandbox',
  pages: ['payment-element.html', 'authentication.html'],
});
await bundleVendorScript('sandbox-processor', 'processor.js');
await bundleVendorScript('sandbox-fingerprint', 'fingerprint.js');
writeManifest();
compressAll();
// The folder that `npm publish dist-web/npm` publishes.
writeTypes();
for (const name of ['package.json', 'README.md']) copyFileSync(join(WEB, 'embed', name), join(OUT, 'npm', name));
writeReactPackage();
