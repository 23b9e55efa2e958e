import type { DataFolderSettings } from './data-folder.js';
import type { HttpSettings } from './http.js';
import { isLoopback, type Variables } from './variables.js';

/**
 * `investigation` shows what there is: it builds read models, appends no event, stores nothing in the vault, makes no outside call and
 * sends no webhook or mail. `operator` is the command line, which runs nothing by itself; no ROLE of the environment names it.
 */
export type Role = 'all' | 'api' | 'worker' | 'projector' | 'investigation' | 'operator';

/** What this process is for; also the injection token. */
export abstract class ProcessSettings {
  abstract readonly production: boolean;
  abstract readonly role: Role;
  /** Nothing is appended to the log or put into the vault: the role says so, or the data folder is a restored copy in quarantine. */
  abstract readonly readOnly: boolean;
  /** Whether demo accounts are made at the start. */
  abstract readonly demoAccounts: boolean;
  abstract readonly logLevel: string;
}

/** Whether a process of this role does what `part` stands for. An investigation does all but work. */
export function runs({ role }: Pick<ProcessSettings, 'role'>, part: 'api' | 'worker' | 'projector'): boolean {
  if (role === 'investigation') return part !== 'worker';
  return role === 'all' || role === part;
}

/** `tools`: for the operator command line, which may look at a restored copy whatever the role. */
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
      'must be investigation, because DATA_DIR is a restored copy (npm run ops -- backup release <folder> --reason <text> makes it an ordinary one)',
    );
  }
  return {
    production: env.production,
    role: tools ? 'operator' : role,
    readOnly: role === 'investigation' || quarantined,
    // The keys of demo accounts lie in a file. Where NODE_ENV is forgotten they are made only if no other machine reaches the service.
    demoAccounts: !env.production && (env.text('NODE_ENV') !== null || isLoopback(host)),
    logLevel: env.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  };
}
