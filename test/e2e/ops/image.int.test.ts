// The container images, tested without a container engine. The test fills folders with exactly the files that the
// stages of the Dockerfile copy. The test runs the programs and the documented command in these folders.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisServer } from '../../support/redis.js';

const dockerfile = readFileSync('Dockerfile', 'utf8');
const BUILT = '--from=build /app/';
const stageOf = (name: string): string =>
  dockerfile.split(/^(?=FROM )/m).find((stage) => /^FROM \S+ AS (\S+)$/m.exec(stage)?.[1] === name)!;
/** The build stage copies the compiled files and removes the test doubles of vendors from the copy. */
const [, DOUBLES = ''] = /^RUN cp -r dist dist-service && rm -r (.+)$/m.exec(dockerfile) ?? [];

/** Links each package that the dependency stage of the Dockerfile keeps. */
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

function assembleImage(stage: string, app: string): void {
  for (const [, from = '', to = ''] of stageOf(stage).matchAll(/^COPY (.+) (\S+)$/gm)) {
    if (from === '--from=dependencies /app/node_modules') linkPackages(join(app, to));
    else if (from === `${BUILT}dist-service`) copyWithoutDoubles(join(app, to));
    else if (from.startsWith(BUILT)) cpSync(from.slice(BUILT.length), join(app, to), { recursive: true });
    else
      for (const file of from.split(' '))
        cpSync(file, to.endsWith('/') ? join(app, to, basename(file)) : join(app, to), { recursive: true });
  }
}

function copyWithoutDoubles(to: string): void {
  cpSync('dist', to, { recursive: true });
  const removed = DOUBLES.replaceAll('dist-service', to);
  execFileSync('sh', ['-c', `rm -r ${removed}`]);
}

describe('the images', () => {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  const app = join(folder, 'app');
  const sandbox = join(folder, 'sandbox');
  const filesOfTheImage = (): string[] =>
    readdirSync(app, { recursive: true, withFileTypes: true })
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort();
  let redis: RedisServer;

  beforeAll(async () => {
    assembleImage('service', app);
    assembleImage('sandbox', sandbox);
    redis = await RedisServer.start();
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function run(
    cwd: string,
    program: string,
    ...args: string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    return new Promise((done, failed) => {
      const env = { PATH: process.env.PATH ?? '', HOME: folder, DATA_DIR: join(folder, 'data'), REDIS_URL: redis.url };
      const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      child.on('error', failed);
      child.on('close', (code) => done({ code, stdout, stderr }));
    });
  }
  const ops = (...args: string[]): ReturnType<typeof run> => run(app, 'npm', 'run', '--silent', 'ops', '--', ...args);

  it.each([
    ['service', 'src/service.js'],
    ['service', 'src/ops/ops.module.js'],
    ['sandbox', 'sandbox/vendors.js'],
  ])('have all files and packages of the program: %s, %s', async (image, file) => {
    // Node.js keeps the link, so a package finds only the packages beside the link, as in the image.
    const { code, stderr } = await run(
      image === 'service' ? app : sandbox,
      'node',
      '--preserve-symlinks',
      '--eval',
      `await import('./dist/${file}'); process.exit()`,
      '--input-type=module',
    );
    expect([code, stderr]).toEqual([0, '']);
  });

  it('have test doubles of vendors only in the image of the sandbox', () => {
    const doubles = (image: string): string[] =>
      readdirSync(join(image, 'dist'), { recursive: true, encoding: 'utf8' }).filter((file) =>
        /(?:^|\/)(?:double|sandbox)(?:\/|$)/.test(file),
      );
    expect(doubles(app)).toEqual([]);
    expect(doubles(sandbox)).not.toEqual([]);
  });

  it('list the operator commands', async () => {
    const { code, stdout, stderr } = await ops('--help');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('accounts');
  });

  it('can run an operator command, which writes only to the data folder', async () => {
    const before = filesOfTheImage();
    const created = await ops('accounts', 'create', '--name', 'Image & Co');
    expect([created.code, created.stderr]).toEqual([0, '']);
    expect(JSON.parse(created.stdout)).toMatchObject({ accountId: expect.any(String), name: 'Image & Co' });
    expect(filesOfTheImage()).toEqual(before);
  });
});
