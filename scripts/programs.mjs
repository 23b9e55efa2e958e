// Programs on this machine: finds them, and installs them with the package managers.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const INSTALLED_WITHIN_MS = 600_000;

/** The path of the program, or undefined. */
export function onPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

export function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // The program cannot be run from here.
    return false;
  }
}

/** The variables that installers need, for paths and the network, without the service's secrets. */
const FOR_INSTALLERS = [
  'PATH',
  'HOME',
  'LANG',
  'TMPDIR',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
];

/** The variables of this list that are set. */
export function only(names, env = process.env) {
  return Object.fromEntries(names.filter((name) => env[name] !== undefined).map((name) => [name, env[name]]));
}

/**
 * Installs Debian packages as root, or Homebrew's package. In `apt`, the first line that can be installed is used. Does nothing on other systems and
 * in production. A failure is printed on standard error, and the caller then looks for the program.
 */
export function install({ apt, brew }) {
  if (process.env.NODE_ENV?.trim() === 'production') return;
  if (onPath('apt-get') && process.getuid?.() === 0) {
    // Run level 1 keeps Debian's packages from starting servers.
    const env = { ...only(FOR_INSTALLERS), DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    quietly('apt-get', ['update', '-qq'], env);
    for (const names of apt) {
      console.error(`Installing ${names} (apt-get) ...`);
      if (quietly('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names.split(' ')], env)) return;
    }
  } else if (brew !== undefined && onPath('brew')) {
    console.error(`Installing ${brew} (brew) ...`);
    quietly('brew', ['install', '--quiet', brew], only(FOR_INSTALLERS));
  }
}

/** Whether the command succeeded. */
function quietly(command, args, env) {
  const result = spawnSync(command, args, { env, encoding: 'utf8', timeout: INSTALLED_WITHIN_MS });
  if (result.status === 0) return true;
  console.error(
    `${command} ${args[0]} failed: ${lastLines(`${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}`)}`,
  );
  return false;
}

function lastLines(text) {
  return text.trim().split('\n').slice(-3).join(' ');
}
