// An auditor fetches verify-case.mjs from the service, compares its hash with the published one, and counts a case in the served log.
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { createPrivateServer } from '../../../src/platform/http/server.js';
import { createLog } from '../../../src/platform/observability/log.js';
import type { TransparencyFiles } from '../../../src/ports/transparency-files.js';
import { SURFACES } from '../../../src/surfaces/all.js';
import type { Manifest } from '../../../src/transparency/case-file.js';
import { policyText } from '../../../src/transparency/checkpoint.js';
import { serveTransparency } from '../../../src/transparency/serve-transparency.js';
import { changed, changeJson, KEYS, LogInMemory, removed } from '../../support/case-files.js';

const folder = mkdtempSync(join(tmpdir(), 'verify-command-'));
const at = (name: string): string => join(folder, name);

let server: FastifyInstance;
let url: string;
let log: LogInMemory;

beforeAll(async () => {
  log = await LogInMemory.of(60);
  writeFileSync(at('case.zip'), await log.caseOf(log.screenings[45] ?? ''));
  writeFileSync(at('policy'), policyText(KEYS.verifiers));
  server = createPrivateServer(SURFACES, createLog('error', 'api', { write: () => undefined }));
  serveTransparency(server, { read: (path: string) => log.read(path) } as TransparencyFiles, () => true);
  await server.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/transparency`;
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** The exit code, and the lines that the command printed. */
function run(...args: string[]): Promise<{ readonly code: unknown; readonly lines: string[] }> {
  return new Promise((resolve) =>
    execFile(process.execPath, [at('verify-case.mjs'), ...args], { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, lines: `${stdout}${stderr}`.trimEnd().split('\n') }),
    ),
  );
}

it('checks a case file with the published program against a log over HTTP', async () => {
  const published = readFileSync('docs/operations/sealed-log.md', 'utf8');
  for (const name of ['verify-case.mjs', 'verify.html']) {
    const program = Buffer.from(await (await fetch(`${url}/${name}`)).arrayBuffer());
    expect(published.split('\n')).toContain(`| \`${name}\` | \`${hash('sha256', program)}\` |`);
    writeFileSync(at(name), program);
  }
  const counted = '  - The log has 5 events of the case under the checkpoint. The file has all of them.';
  const held = await run('case.zip', '--policy', 'policy', '--log', url);
  expect([held.code, held.lines.at(-1)]).toEqual([0, 'The case file holds.']);
  expect(held.lines).toContain(counted);

  // The log grows after the export.
  for (let cases = 0; cases < 40; cases++) log.addCase();
  await log.seal();
  const grown = await run('case.zip', '--policy', 'policy', '--log', `${url}/`);
  expect(grown.lines).toContain('  - The log has 600 events now. It continues the tree of the case file.');
  expect(grown.code).toBe(0);

  const short = changed(readFileSync(at('case.zip')), (files) => {
    removed(files, 'events/275.json', 'events/275.tlog-proof');
    changeJson(files, 'manifest.json', ({ events, ...manifest }: Manifest) => ({
      ...manifest,
      events: events.filter((index) => index !== 275),
    }));
  });
  writeFileSync(at('short.zip'), short);
  const leftOut = await run('short.zip', '--log', url);
  expect([leftOut.code, leftOut.lines.at(-1)]).toEqual([1, 'The case file is REFUSED.']);
  expect(leftOut.lines).toContain('  - The case file leaves out events of the case. The log has them at 275.');

  const elsewhere = await run('case.zip', '--log', `${url}/elsewhere`);
  expect([elsewhere.code, elsewhere.lines]).toEqual([1, expect.arrayContaining(['  - The log has no checkpoint.'])]);
  expect((await run()).code).toBe(2);
});
