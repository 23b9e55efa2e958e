// Programs of this machine: which are there, and what the package managers install.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const INSTALLED_WITHIN_MS = 600_000;

/** Where the program of this name is, or undefined. */
export function onPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

export function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Whatever the reason, it cannot be run from here.
    return false;
  }
}

/** Installs Debian's package as root, or Homebrew's; does nothing elsewhere. A failure is told on standard error and left to who looks for the program then. */
export function install({ apt, brew }) {
  if (onPath('apt-get') && process.getuid?.() === 0) {
    console.error(`Installing ${apt} (apt-get) ...`);
    // Run level 1 keeps Debian's packages from starting servers of their own.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    quietly('apt-get', ['update', '-qq'], env);
    quietly('apt-get', ['install', '-y', '-qq', '--no-install-recommends', apt], env);
  } else if (onPath('brew')) {
    console.error(`Installing ${brew} (brew) ...`);
    quietly('brew', ['install', '--quiet', brew], process.env);
  }
}

function quietly(command, args, env) {
  const result = spawnSync(command, args, { env, encoding: 'utf8', timeout: INSTALLED_WITHIN_MS });
  if (result.status === 0) return;
  console.error(`${command} ${args[0]} failed: ${lastLines(`${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}`)}`);
}

function lastLines(text) {
  return text.trim().split('\n').slice(-3).join(' ');
}
