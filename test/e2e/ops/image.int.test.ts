// The operator command line in the image: a folder is put together from exactly what the last stage of the Dockerfile
// copies, and the command that the documents name is run in it.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisServer } from '../../support/redis.js';

const dockerfile = readFileSync('Dockerfile', 'utf8');
const BUILT = '--from=build /app/';
const finalStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

/** The packages that the stage of dependencies leaves: each by a link. */
function linkPackages(to: string): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const [, removed = ''] = /npm ci --omit=dev && rm -r (.+)/.exec(dockerfile) ?? [];
  for (const [name, { dev }] of Object.entries(packages)) {
    const [, path = ''] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(name) ?? [];
    if (path === '' || dev === true || removed.split(' ').includes(name)) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    symlinkSync(resolve('node_modules', path), join(to, path));
  }
}

function assembleImage(app: string): void {
  for (const [, from = '', to = ''] of finalStage.matchAll(/^COPY (.+) (\S+)$/gm)) {
    if (from === '--from=dependencies /app/node_modules') linkPackages(join(app, to));
    else if (from.startsWith(BUILT)) cpSync(from.slice(BUILT.length), join(app, to), { recursive: true });
    else
      for (const file of from.split(' '))
        cpSync(file, to.endsWith('/') ? join(app, to, file) : join(app, to), { recursive: true });
  }
}

describe('npm run ops in the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  const app = join(folder, 'app');
  const filesOfTheImage = (): string[] =>
    readdirSync(app, { recursive: true, withFileTypes: true })
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort();
  let redis: RedisServer;

  beforeAll(async () => {
    assembleImage(app);
    redis = await RedisServer.start();
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function run(
    program: string,
    ...args: string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    return new Promise((done, failed) => {
      const env = { PATH: process.env.PATH ?? '', HOME: folder, DATA_DIR: join(folder, 'data'), REDIS_URL: redis.url };
      const child = spawn(program, args, { cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      child.on('error', failed);
      child.on('close', (code) => done({ code, stdout, stderr }));
    });
  }
  const ops = (...args: string[]): ReturnType<typeof run> => run('npm', 'run', '--silent', 'ops', '--', ...args);

  it.each(['src/service.js', 'src/ops/ops.module.js', 'sandbox/vendors.js'])('has all packages of %s', async (file) => {
    // A package finds others beside its link, where only those of the image are.
    const { code, stderr } = await run(
      'node',
      '--preserve-symlinks',
      '--eval',
      `await import('./dist/${file}'); process.exit()`,
      '--input-type=module',
    );
    expect([code, stderr]).toEqual([0, '']);
  });

  it('lists the commands', async () => {
    const { code, stdout, stderr } = await ops('--help');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('accounts');
  });

  it('does what it is told, and writes nothing but the data', async () => {
    const before = filesOfTheImage();
    const created = await ops('accounts', 'create', '--name', 'Image & Co');
    expect([created.code, created.stderr]).toEqual([0, '']);
    expect(JSON.parse(created.stdout)).toMatchObject({ accountId: expect.any(String), name: 'Image & Co' });
    expect(filesOfTheImage()).toEqual(before);
  });
});
