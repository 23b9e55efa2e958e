// Tells whether a process id still belongs to the recorded process, and ends processes by id.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The start time of the process with this id, in a comparable form; undefined without such a process. The system uses ids again, but not start times.
 */
export function birthOf(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (existsSync('/proc/self/stat')) {
    const stat = readProc(pid, 'stat');
    if (stat === undefined) return undefined;
    // The name in parentheses may contain spaces. The state is the first field after it, and the start time the twentieth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z'
      ? undefined
      : `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`;
  }
  return ps(pid, 'lstart=');
}

/** Whether `pid` is still the process with this start time, and its command line contains `word`. */
export function isSameProcess({ pid, birth, word }) {
  return birth !== undefined && birthOf(pid) === birth && commandLineOf(pid).includes(word);
}

function commandLineOf(pid) {
  const line = existsSync('/proc/self/stat') ? readProc(pid, 'cmdline')?.replaceAll('\0', ' ') : ps(pid, 'command=');
  return line ?? '';
}

function readProc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined;
    throw error;
  }
}

function ps(pid, column) {
  const result = spawnSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() || undefined : undefined;
}

/** Asks a recorded process to end, waits, and kills it if it has not ended after `graceMs`. */
export async function endProcess(record, graceMs) {
  if (!isSameProcess(record)) return;
  signal(record.pid, 'SIGTERM');
  const patience = Date.now() + graceMs;
  while (isSameProcess(record)) {
    if (Date.now() > patience) signal(record.pid, 'SIGKILL');
    await delay(50);
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
