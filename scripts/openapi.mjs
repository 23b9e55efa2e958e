// `npm run openapi` checks the OpenAPI documents with programs of others: two linters, and a client that is generated from the documents.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ensureOpenApiTools, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';

const APIS = ['platform', 'server', 'direct', 'dashboard'];

await runCommand(() => {
  ensureInstalled();
  const tools = ensureOpenApiTools();
  const generated = join(tools, 'generated');
  rmSync(generated, { recursive: true, force: true });
  run('--import', './test/support/typescript.js', 'test/support/write-documents.ts', generated);
  const documents = [...APIS, 'all'].map((name) => join(generated, `${name}.json`));
  const program = (path) => join(tools, 'node_modules', path);
  run(program('@redocly/cli/bin/cli.js'), 'lint', `--config=${join(tools, 'redocly.yaml')}`, ...documents);
  run(
    program('@stoplight/spectral-cli/dist/index.js'),
    'lint',
    `--ruleset=${join(tools, 'spectral.yaml')}`,
    '--fail-severity=hint',
    ...documents,
  );
  for (const name of APIS)
    run(
      program('openapi-typescript/bin/cli.js'),
      join(generated, `${name}.json`),
      `--output=${join(generated, `${name}.d.ts`)}`,
    );
  run(program('typescript/bin/tsc'), '-p', join(tools, 'tsconfig.json'));
});

function run(...args) {
  const { status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Problem(`${args[0]} found faults; they are above.`);
}
