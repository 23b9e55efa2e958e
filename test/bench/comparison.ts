// Compares the processor time of an operation in the service and in another program. The rounds alternate, and the
// results are rows of one table.
import { setTimeout as pause } from 'node:timers/promises';
import type { RedisServer } from '../support/redis.js';
import { commandsOf, cpuMsOf, median, quantile, throughput } from './measure.js';

/** A program and its Redis. */
export interface Side {
  readonly name: string;
  /** The ids of the program's processes. */
  readonly pids: readonly number[];
  readonly redis: RedisServer;
}

export interface Operation {
  /** Prepares this number of operations. The preparation is not measured. */
  prepare?(count: number): Promise<unknown>;
  /** Resolves with the duration of one operation in milliseconds. */
  run(): Promise<number>;
}

export function timed(run: () => Promise<void>): Operation {
  return {
    run: async () => {
      const startedAt = performance.now();
      await run();
      return performance.now() - startedAt;
    },
  };
}

export interface Comparison {
  readonly name: string;
  readonly ours: Side & { readonly operation: Operation };
  readonly other: Side & { readonly operation: Operation };
  /** The number of operations in a round, by operations in flight. */
  readonly counts: Readonly<Record<number, number>>;
  /** The other program's processor time for one operation divided by the service's, at the highest load. */
  readonly target?: number;
  /** The upper limit of the service's p50 divided by the other program's p50, with one operation in flight. */
  readonly p50Within?: number;
}

interface Round {
  /** Microseconds for one operation, by process. */
  readonly cpus: readonly number[];
  readonly cpu: number;
  readonly redisCpu: number;
  readonly rate: number;
  readonly p50: number;
  /** Redis commands for one operation. */
  readonly commands: ReadonlyMap<string, number>;
}

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
/**
 * A program with many modules is fully compiled after this number of rounds. After one round, an operation still takes
 * up to twice as long.
 */
const WARMING_ROUNDS = 5;
/** A program is idle when it uses less than `IDLE_MS` of processor time in this period. */
const WATCHED_MS = 250;
const IDLE_MS = 20;
const MAX_LOOKS = 240;
const COLUMNS = [22, 9, 8, 16, 8, 9, 10] as const;

export function tellHeader(): void {
  line('operation', 'in flight', 'program', 'CPU us + Redis', 'ops/s', 'p50 ms', 'commands');
}

export async function compare({ name, ours, other, counts, target, p50Within }: Comparison): Promise<void> {
  const levels = Object.entries(counts)
    .map(([inFlight, count]) => ({ inFlight: Number(inFlight), count }))
    .reverse();
  const [most = { inFlight: 1, count: 1 }] = levels;
  for (let done = 0; done < WARMING_ROUNDS; done++)
    for (const side of [ours, other]) await round(side, most.count, most.inFlight);
  for (const { inFlight, count } of levels) {
    const rounds: [Round, Round][] = [];
    for (let done = 0; done < ROUNDS; done++)
      rounds.push([await round(ours, count, inFlight), await round(other, count, inFlight)]);
    const [our, its] = [middle(rounds.map(([first]) => first)), middle(rounds.map(([, second]) => second))];
    tellRow(name, inFlight, ours.name, our);
    tellRow('', '', other.name, its);
    const ratio = (its.cpu + its.redisCpu) / (our.cpu + our.redisCpu);
    const verdict =
      target !== undefined && inFlight === most.inFlight ? against(ratio >= target, target.toFixed(2)) : '';
    const rates = (our.rate / its.rate).toFixed(2);
    process.stdout.write(`  ${other.name} / ${ours.name} by CPU ${ratio.toFixed(2)}${verdict}; rates ${rates}\n`);
    if (inFlight === 1 && p50Within !== undefined) {
      const times = our.p50 / its.p50;
      const limit = against(times <= p50Within, `at most ${p50Within}`);
      process.stdout.write(`  p50 ${ours.name} / ${other.name} ${times.toFixed(2)}${limit}\n`);
    }
    if (ours.pids.length > 1)
      process.stdout.write(`  ${ours.name}, CPU us of each process: ${our.cpus.map(figure).join(', ')}\n`);
    process.stdout.write(`  ${ours.name}, commands: ${commonest(our.commands)}\n`);
  }
}

async function round({ pids, redis, operation }: Comparison['ours'], count: number, inFlight: number): Promise<Round> {
  await operation.prepare?.(count);
  await idle(pids);
  const client = redis.client();
  const used = async (): Promise<[number[], number]> => [
    await Promise.all(pids.map(cpuMsOf)),
    await cpuMsOf(redis.pid ?? 0),
  ];
  const [commandsBefore, [cpuBefore, redisBefore]] = [await commandsOf(client), await used()];
  const times: number[] = [];
  const rate = await throughput(count, inFlight, async () => {
    times.push(await operation.run());
  });
  // Work that the program does after the answer counts too.
  await idle(pids);
  const [[cpuAfter, redisCpu], commands] = [await used(), await commandsOf(client)];
  client.disconnect();
  const cpus = cpuAfter.map((ms, index) => ((ms - (cpuBefore[index] ?? 0)) * 1_000) / count);
  return {
    cpus,
    cpu: sumOf(cpus),
    redisCpu: ((redisCpu - redisBefore) * 1_000) / count,
    rate,
    p50: quantile(
      times.sort((one, next) => one - next),
      0.5,
    ),
    commands: new Map([...commands].map(([name, calls]) => [name, (calls - (commandsBefore.get(name) ?? 0)) / count])),
  };
}

/** Resolves when the processes of a program have no work left. */
export async function idle(pids: readonly number[]): Promise<void> {
  const used = async (): Promise<number> => sumOf(await Promise.all(pids.map(cpuMsOf)));
  let before = await used();
  for (let look = 0; look < MAX_LOOKS; look++) {
    await pause(WATCHED_MS);
    const now = await used();
    if (now - before <= IDLE_MS * pids.length) return;
    before = now;
  }
  throw new Error(`Process ${pids.join(', ')} does not come to rest`);
}

/** The medians of each figure. The commands are those of the last round. */
function middle(rounds: readonly Round[]): Round {
  const of = (figure: (round: Round) => number): number => median(rounds.map(figure));
  return {
    cpus: (rounds[0]?.cpus ?? []).map((_, index) => of(({ cpus }) => cpus[index] ?? 0)),
    cpu: of(({ cpu }) => cpu),
    redisCpu: of(({ redisCpu }) => redisCpu),
    rate: of(({ rate }) => rate),
    p50: of(({ p50 }) => p50),
    commands: rounds.at(-1)?.commands ?? new Map(),
  };
}

function tellRow(
  name: string,
  inFlight: number | string,
  program: string,
  { cpu, redisCpu, rate, p50, commands }: Round,
): void {
  const total = [...commands.values()].reduce((sum, calls) => sum + calls, 0);
  line(name, inFlight, program, `${figure(cpu)} + ${figure(redisCpu)}`, figure(rate), p50.toFixed(2), total.toFixed(1));
}

function commonest(commands: ReadonlyMap<string, number>): string {
  return [...commands]
    .filter(([, calls]) => calls >= 0.05)
    .sort(([, one], [, other]) => other - one)
    .slice(0, 10)
    .map(([command, calls]) => `${command} ${calls.toFixed(1)}`)
    .join(', ');
}

function against(reached: boolean, target: string): string {
  return `  (target ${target}: ${reached ? 'reached' : 'MISSED'})`;
}

function figure(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function line(...cells: readonly (string | number)[]): void {
  const padded = cells.map((cell, index) => {
    const width = COLUMNS[index] ?? 0;
    return index === 0 || index === 2 ? String(cell).padEnd(width) : String(cell).padStart(width);
  });
  process.stdout.write(`${padded.join(' ').trimEnd()}\n`);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
