// How the benchmarks measure: rounds with a fixed number of operations alternate between the compared programs, and the
// results are medians.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Redis } from 'ioredis';

/** Runs `operation` `count` times with `inFlight` at a time, and returns operations a second. */
export async function throughput(count: number, inFlight: number, operation: () => Promise<void>): Promise<number> {
  let left = count;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await operation();
    }),
  );
  return (count / (performance.now() - startedAt)) * 1_000;
}

/** Runs `count` operations one after another, and returns their milliseconds, sorted. */
export async function latencies(count: number, operation: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < count; done++) {
    const startedAt = performance.now();
    await operation();
    times.push(performance.now() - startedAt);
  }
  return times.sort((one, other) => one - other);
}

/**
 * Starts `aSecond` operations a second until the promise settles, even if earlier operations still run. Returns their
 * milliseconds, sorted.
 */
export async function paced(
  aSecond: number,
  during: Promise<unknown>,
  operation: () => Promise<void>,
): Promise<number[]> {
  const [times, running]: [number[], Promise<void>[]] = [[], []];
  let isOver = false;
  const over = during.finally(() => (isOver = true));
  for (let due = performance.now(); !isOver; due += 1_000 / aSecond) {
    await pause(Math.max(0, due - performance.now()));
    running.push(operation().then(() => void times.push(performance.now() - due)));
  }
  await Promise.all([over, ...running]);
  return times.sort((one, other) => one - other);
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((one, other) => one - other),
    0.5,
  );
}

/** The quantile of sorted values. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The slope of the least-squares line through the points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/**
 * Runs the measured functions in turn, so that other load on the machine affects all of them. Returns the medians by
 * name.
 */
export async function medians<Name extends string>(
  rounds: number,
  measured: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const results = Object.fromEntries(Object.keys(measured).map((name) => [name, []])) as unknown as Record<
    Name,
    number[]
  >;
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(measured) as Name[]) results[name].push(await measured[name]());
  }
  return Object.fromEntries(
    Object.entries(results).map(([name, values]) => [name, median(values as number[])]),
  ) as Record<Name, number>;
}

/** The unit in which Linux counts processor time. */
const TICK_MS = 10;

/** Milliseconds of user and system time that all threads of a process have used since its start. */
export async function cpuMsOf(pid: number): Promise<number> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in brackets, may contain spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'time=', '-p', String(pid)]);
  return stdout.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1_000;
}

/** The memory of a process that is not backed by a file, or 0 when the system does not report it. */
export async function anonymousBytesOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024;
}

/** The number of runs of each Redis command since the start, including commands in scripts. */
export async function commandsOf(redis: Redis): Promise<ReadonlyMap<string, number>> {
  const lines = (await redis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
  return new Map([...lines].map(([, name = '', calls]) => [name, Number(calls)]));
}

export type Target = { readonly atLeast: number } | { readonly below: number };

export function tell(what: string, value: number, unit: string, target?: Target): void {
  const figure = value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2);
  const verdict =
    target === undefined
      ? ''
      : 'below' in target
        ? `  (target below ${target.below}: ${value < target.below ? 'reached' : 'MISSED'})`
        : `  (target ${target.atLeast}: ${value >= target.atLeast ? 'reached' : 'MISSED'})`;
  process.stdout.write(`${what.padEnd(64)} ${figure.padStart(10)} ${unit}${verdict}\n`);
}
