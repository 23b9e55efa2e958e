import type { DataFolderSettings } from './data-folder.js';
import type { HttpSettings } from './http.js';
import { isLoopback, type Variables } from './variables.js';

/**
 * `investigation` only reads. `investigation` builds read models but appends no event, stores nothing in the vault, calls no vendor and sends no
 * webhook or mail. `operator` is the command line. `operator` runs no part by itself, and ROLE cannot select it.
 */
export type Role = 'all' | 'api' | 'worker' | 'projector' | 'investigation' | 'operator';

/** The roles that may run in separate processes, in the order in which they start. */
const APART = ['projector', 'worker', 'api'] as const;
const MAX_PROCESSES = 64;

/** The number of processes of each role that the start command runs. */
export type ProcessCounts = Readonly<Record<(typeof APART)[number], number>>;

/** The role of this process. This class is also the injection token. */
export abstract class ProcessSettings {
  abstract readonly production: boolean;
  abstract readonly role: Role;
  /** The log and the vault accept no writes: the role only reads, or the data folder is a restored copy that is not released. */
  abstract readonly readOnly: boolean;
  /** Whether the start makes demo accounts. */
  abstract readonly demoAccounts: boolean;
  abstract readonly logLevel: string;
  /** Only the start command uses it. Null if one process has all roles. */
  abstract readonly processes: ProcessCounts | null;
}

/** Whether a process of this role includes `part`. An investigation includes all parts but the worker. */
export function runs({ role }: Pick<ProcessSettings, 'role'>, part: 'api' | 'worker' | 'projector'): boolean {
  if (role === 'investigation') return part !== 'worker';
  return role === 'all' || role === part;
}

/** `tools`: for the operator command line, which may read a restored copy in any role. */
export function readProcess(
  env: Variables,
  tools: boolean,
  { host }: HttpSettings,
  { quarantined }: DataFolderSettings,
): ProcessSettings {
  const role = env.oneOf('ROLE', ['all', 'api', 'worker', 'projector', 'investigation'], 'all');
  if (quarantined && role !== 'investigation' && !tools) {
    env.fault(
      'ROLE',
      'must be investigation, because DATA_DIR is a restored copy (npm run ops -- backup release <folder> --ledger <file> --reason <text> releases it)',
    );
  }
  return {
    production: env.production,
    role: tools ? 'operator' : role,
    readOnly: role === 'investigation' || quarantined,
    // A file stores the keys of the demo accounts. If NODE_ENV is unset, the accounts are made only when no other machine can reach the service.
    demoAccounts: !env.production && (env.text('NODE_ENV') !== null || isLoopback(host)),
    logLevel: env.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    processes: readProcesses(env),
  };
}

function readProcesses(env: Variables): ProcessCounts | null {
  if (env.text('ROLES') === null) return null;
  if (env.text('ROLE') !== null) env.fault('ROLES', 'must not be set together with ROLE');
  const parts = env.list('ROLES').map((part) => /^(\w+)(?::([1-9]\d?))?$/.exec(part));
  const counts = new Map(parts.map((part) => [part?.[1], Number(part?.[2] ?? 1)]));
  const countOf = (role: string): number => counts.get(role) ?? 0;
  const isWhole = parts.length === APART.length && APART.every((role) => countOf(role) > 0);
  if (!isWhole || Math.max(...counts.values()) > MAX_PROCESSES)
    env.fault(
      'ROLES',
      `must name each of api, worker and projector once, with up to ${MAX_PROCESSES} processes, as in api:2,worker:1,projector:1`,
    );
  return { projector: countOf('projector'), worker: countOf('worker'), api: countOf('api') };
}
