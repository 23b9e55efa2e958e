// Provides a Redis: the Redis that REDIS_URL names, or a private server with append-only persistence in the data folder.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './ports.mjs';
import { Problem } from './problem.mjs';
import { install, onPath } from './programs.mjs';

const IMAGE = 'redis:7.4-alpine';
/** The first version with GETDEL, which reads and removes a sealed payload in one step. */
const OLDEST = [6, 2];
const ANSWER_WITHIN_MS = 3_000;
/** The longest time in which a large append-only file is loaded. */
const LOADED_WITHIN_MS = 120_000;

/**
 * How a Redis server can run here: `{ binary }` or `{ engine }` (a container engine). Installs one if this machine has none and allows an
 * installation.
 */
export function ensureRedisServer() {
  const present = findBinary();
  if (present) return present;
  install({ apt: ['redis-server'], brew: 'redis' });
  const installed = findBinary();
  if (installed) return installed;
  for (const engine of ['docker', 'podman']) {
    if (onPath(engine) && spawnSync(engine, ['info'], { stdio: 'ignore', timeout: 10_000 }).status === 0)
      return { engine };
  }
  throw new Problem(
    'Redis 6.2 or newer is needed: install redis-server so that it is on the PATH, or set REDIS_URL to a running Redis.',
  );
}

function findBinary() {
  for (const name of ['redis-server', 'valkey-server']) {
    const binary = onPath(name);
    if (binary && isNewEnough(binary)) return { binary, name };
  }
  return undefined;
}

function isNewEnough(binary) {
  const printed = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout ?? '';
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(printed) ?? [];
  return Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
}

/**
 * Prepares a private server on a free loopback port, with its files in `<dataDir>/redis`. The caller runs `command` and waits with `isReady`. The
 * password excludes other users of the machine.
 */
export async function preparePrivateRedis(server, dataDir) {
  const folder = join(dataDir, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const port = await freePort();
  const password = randomBytes(24).toString('base64url');
  const inContainer = 'engine' in server;
  const settings = [
    inContainer ? 'bind 0.0.0.0' : 'bind 127.0.0.1',
    `port ${inContainer ? 6379 : port}`,
    `requirepass ${password}`,
    `dir ${JSON.stringify(inContainer ? '/data' : folder)}`,
    'daemonize no',
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    // Redis must never drop jobs and read models to make room.
    'maxmemory-policy noeviction',
  ];
  const file = join(folder, 'redis.conf');
  writeFileSync(file, `${settings.join('\n')}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  const container = [
    'run',
    '--rm',
    '--init',
    '--name',
    `screening-redis-${process.pid}`,
    '-p',
    `127.0.0.1:${port}:6379`,
  ];
  const asUser = process.getuid ? ['--user', `${process.getuid()}:${process.getgid()}`] : [];
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    command: inContainer
      ? {
          file: server.engine,
          args: [...container, ...asUser, '-v', `${folder}:/data`, IMAGE, 'redis-server', '/data/redis.conf'],
          word: server.engine,
        }
      : { file: server.binary, args: [file], word: server.name },
    isReady: async () => (await ask(port, password)) === 'PONG',
    readyWithinMs: LOADED_WITHIN_MS,
  };
}

/** Sends one PING with the password. Returns the first line of the reply without its sign, or the reason for a missing reply. */
function ask(port, password) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const done = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    let received = '';
    socket.setTimeout(ANSWER_WITHIN_MS, () => done('no answer'));
    socket.on('error', (error) => done(error.code));
    socket.on('close', () => done('connection closed'));
    socket.on('data', (chunk) => {
      received += chunk;
      const lines = received.split('\r\n');
      if (lines.length > 2) done(lines[1].slice(1));
    });
    socket.write(`AUTH ${password}\r\nPING\r\n`);
  });
}

/** Reports at once when no server listens at REDIS_URL, so that a user need not wait for a time limit. */
export async function checkForeignRedis(url) {
  const { protocol, hostname, port, pathname } = new URL(url);
  const target =
    protocol === 'unix:' ? { path: pathname } : { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  const patience = Date.now() + 10_000;
  for (;;) {
    const failure = await tryConnect(target);
    if (failure === undefined) return;
    if (Date.now() > patience || failure === 'ENOTFOUND') {
      throw new Problem(
        `Nothing answers where REDIS_URL points (${target.path ?? `${target.host}:${target.port}`}): ${failure}.`,
      );
    }
    await delay(250);
  }
}

function tryConnect(target) {
  return new Promise((resolve) => {
    const socket = connect(target);
    const done = (failure) => {
      socket.destroy();
      resolve(failure);
    };
    socket.setTimeout(ANSWER_WITHIN_MS, () => done('no answer'));
    socket.on('connect', () => done(undefined));
    socket.on('error', (error) => done(error.code ?? error.message));
  });
}
