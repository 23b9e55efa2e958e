// The vendors of the test environment in one process, as the environment variables configure them. Imports no part of the service.
import { join } from 'node:path';
import type { SandboxContext, SandboxPart } from '../src/vendor-kit/double/sandbox-part.js';
import { BrowserFiles } from './browser-files.js';
import { findDoubles, type FoundDouble } from './doubles.js';
import { startSandbox, type RunningSandbox } from './server.js';
import { SandboxWitness } from './witness.js';

export async function startVendors(
  env: Readonly<Record<string, string | undefined>>,
  doubles?: readonly FoundDouble[],
): Promise<RunningSandbox> {
  const {
    SANDBOX_HOST = '127.0.0.1',
    SANDBOX_PORT = '3001',
    DATA_DIR = '.data',
    SANDBOX_SLOWNESS,
    PORT = '3000',
  } = env;
  if (SANDBOX_SLOWNESS && !(Number(SANDBOX_SLOWNESS) >= 0))
    throw new Error('SANDBOX_SLOWNESS must be a number of seconds');
  // An empty value counts as absent.
  const named = (name: string, fallback: string): string => env[name] || fallback;
  const service = named('SANDBOX_NOTICES_URL', `http://127.0.0.1:${named('INTERNAL_PORT', PORT)}`);
  const parts: SandboxPart[] = [];
  const surroundings: Omit<SandboxContext, 'variables' | 'noticesUrl'> = {
    folder: join(DATA_DIR, 'sandbox'),
    slowMs: Number(SANDBOX_SLOWNESS || 2) * 1_000,
    personOf: (token) => parts.map((part) => part.personOf?.(token) ?? null).find((person) => person !== null) ?? null,
    now: Date.now,
  };
  for (const { id, double } of doubles ?? (await findDoubles())) {
    const variables = Object.fromEntries(
      Object.entries(double.variables).map(([name, fallback]) => [name, named(name, fallback)]),
    );
    const noticesUrl = `${service}/internal/vendors/${id}/events`;
    const part = await double.open({ ...surroundings, variables, noticesUrl });
    parts.push(double.rootPath === '' ? part : below(`/vendors/${id}`, part));
  }
  const witness = new SandboxWitness({
    file: join(DATA_DIR, 'sandbox', 'witness.json'),
    policyFile: join(DATA_DIR, 'transparency', 'policy'),
    now: Date.now,
  });
  return startSandbox({
    host: SANDBOX_HOST,
    port: Number(SANDBOX_PORT),
    parts: [...parts, new BrowserFiles(), witness],
  });
}

/** The part with a server of its own below the path. There, the part can answer wrong requests in its own words. */
function below(prefix: string, part: SandboxPart): SandboxPart {
  return {
    mount: (server) =>
      void server.register(
        (scope, _options, done) => {
          part.mount(scope);
          done();
        },
        { prefix },
      ),
    close: () => part.close(),
    personOf: (token) => part.personOf?.(token) ?? null,
  };
}
