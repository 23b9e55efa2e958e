// The parts that a process starts for its roles, their order, and the cases in which workers must wait.
import 'reflect-metadata';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import { pino } from 'pino';
import type { LogWatch } from '../../../src/platform/audit/log-watch.js';
import { rolePart, type RoleName, type Startable } from '../../../src/platform/roles/role-part.js';
import { RoleRunner } from '../../../src/platform/roles/role-runner.js';

const A_LOOK_MS = 2_000;

describe('the runner of a role', () => {
  let happened: string[];
  let complaint: string | null;
  let prepare: () => Promise<void>;
  let stopTimers: () => Promise<void>;
  let startTimers: () => void;
  const modules: TestingModule[] = [];
  beforeEach(() => {
    jest.useFakeTimers();
    happened = [];
    complaint = null;
    prepare = async () => void happened.push('prepare queue');
    startTimers = () => undefined;
    stopTimers = async () => void happened.push('stop timers');
  });
  afterEach(async () => {
    for (const module of modules.splice(0)) await module.close();
    jest.useRealTimers();
  });

  const part = (name: string): Startable => ({
    start: () => void happened.push(`start ${name}`),
    stop: () => void happened.push(`stop ${name}`),
  });

  async function runnerOf(...roles: RoleName[]): Promise<{ runner: RoleRunner; close: () => Promise<void> }> {
    const logWatch = {
      look: async () => void happened.push('look at the log'),
      get complaint() {
        return complaint;
      },
    } as LogWatch;
    const module = await Test.createTestingModule({
      imports: [DiscoveryModule],
      providers: [
        {
          provide: 'timers',
          useFactory: (): Startable => {
            const timers = part('timers');
            return {
              ...timers,
              stop: () => stopTimers(),
              start: () => {
                startTimers();
                return timers.start();
              },
            };
          },
        },
        { provide: 'queue', useFactory: () => ({ ...part('queue'), prepare: () => prepare() }) },
        { provide: 'demo', useFactory: () => part('demo') },
        { provide: 'projector', useFactory: () => part('projector') },
        { provide: 'disk', useValue: 'the disk' },
        rolePart<Startable>('worker', 'queue'),
        rolePart<Startable>('worker', 'timers'),
        rolePart<Startable>('api', 'demo'),
        rolePart<Startable>('projector', 'projector'),
        rolePart<string>('every-role', 'disk', part),
        {
          provide: RoleRunner,
          useFactory: (discovery: DiscoveryService) =>
            new RoleRunner(new Set(roles), discovery, logWatch, pino({ level: 'silent' })),
          inject: [DiscoveryService],
        },
      ],
    }).compile();
    await module.init();
    modules.push(module);
    return { runner: module.get(RoleRunner), close: () => module.close() };
  }

  it('checks the log, then starts the read models, then the API and last the workers', async () => {
    const { runner } = await runnerOf('every-role', 'projector', 'api', 'worker');
    await runner.start();
    expect(happened).toEqual([
      'start the disk',
      'look at the log',
      'start projector',
      'start demo',
      'prepare queue',
      'start queue',
      'start timers',
    ]);
  });

  it.each([
    ['api', ['start demo']],
    ['projector', ['start projector']],
    ['worker', ['prepare queue', 'start queue', 'start timers']],
  ] as const)('starts for %s only the parts of that role', async (role, started) => {
    const { runner } = await runnerOf('every-role', role);
    await runner.start();
    expect(happened).toEqual(['start the disk', 'look at the log', ...started]);
  });

  it('starts nothing before its start is called, and stops only the parts that were started', async () => {
    const { close } = await runnerOf('every-role', 'worker');
    await close();
    expect(happened).toEqual([]);
  });

  it('stops the parts in reverse order', async () => {
    const { runner, close } = await runnerOf('every-role', 'projector', 'worker');
    await runner.start();
    happened = [];
    await close();
    expect(happened).toEqual(['stop timers', 'stop queue', 'stop projector', 'stop the disk']);
  });

  it('makes all workers stop taking work at once, even if one is slow to finish', async () => {
    const { runner, close } = await runnerOf('every-role', 'projector', 'worker');
    await runner.start();
    happened = [];
    stopTimers = async () => {
      happened.push('end intake of timers');
      await Promise.resolve();
      happened.push('timers are over');
    };
    await close();
    expect(happened.slice(0, 4)).toEqual(['end intake of timers', 'stop queue', 'timers are over', 'stop projector']);
  });

  it('starts the parts that append only when the log has no fault, and starts them once', async () => {
    const { runner } = await runnerOf('every-role', 'api', 'worker');
    complaint = 'The log is shorter than it was.';
    await runner.start();
    expect(happened).toEqual(['start the disk', 'look at the log', 'prepare queue']);
    complaint = null;
    happened = [];
    await jest.advanceTimersByTimeAsync(A_LOOK_MS);
    expect(happened).toEqual(['look at the log', 'prepare queue', 'start demo', 'start queue', 'start timers']);
    happened = [];
    await jest.advanceTimersByTimeAsync(A_LOOK_MS);
    expect(happened).toEqual(['look at the log']);
  });

  it('checks the log even while a worker is slow to start', async () => {
    const { runner, close } = await runnerOf('every-role', 'worker');
    let prepared = (): void => undefined;
    prepare = () => new Promise((resolve) => (prepared = resolve));
    const starting = runner.start();
    await jest.advanceTimersByTimeAsync(2 * A_LOOK_MS);
    expect(happened.filter((what) => what === 'look at the log')).toHaveLength(3);
    prepared();
    await starting;
    await close();
  });

  it('prepares the workers again when the first try failed', async () => {
    const { runner } = await runnerOf('every-role', 'worker');
    const prepared = prepare;
    prepare = async () => {
      throw new Error('Redis is away');
    };
    await runner.start();
    expect(happened).not.toContain('start queue');
    prepare = prepared;
    await jest.advanceTimersByTimeAsync(A_LOOK_MS);
    expect(happened.slice(-3)).toEqual(['prepare queue', 'start queue', 'start timers']);
  });

  it('tries again when a worker could not start, keeps the started workers running, and stops each once', async () => {
    const { runner, close } = await runnerOf('every-role', 'worker');
    startTimers = () => {
      throw new Error('Redis is away');
    };
    await runner.start();
    expect(happened.slice(-2)).toEqual(['prepare queue', 'start queue']);
    startTimers = () => undefined;
    happened = [];
    await jest.advanceTimersByTimeAsync(A_LOOK_MS);
    expect(happened).toEqual(['look at the log', 'start timers']);
    happened = [];
    await close();
    expect(happened).toEqual(['stop timers', 'stop queue', 'stop the disk']);
  });
});
