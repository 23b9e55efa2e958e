// The container files, checked without a container engine.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';

interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly target: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly restart?: string;
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
}

const yaml = createRequire(import.meta.url)('js-yaml');
const { services, volumes } = yaml.load(readFileSync('docker-compose.yml', 'utf8'), { schema: yaml.YAML11_SCHEMA }) as {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const roles = Object.values(services).filter(({ environment }) => environment?.['ROLE'] !== undefined);
const vendors = readdirSync('src/vendors').map((id) => `src/vendors/${id}/vendor.ts`);
const dockerfile = readFileSync('Dockerfile', 'utf8');
const stages = new Map(
  dockerfile.split(/^(?=FROM )/m).map((stage) => [/^FROM \S+ AS (\S+)$/m.exec(stage)?.[1] ?? '', stage] as const),
);
const [serviceStage, sandboxStage] = ['service', 'sandbox'].map((name) => stages.get(name)!) as [string, string];
const OWN_IMAGES = [serviceStage, sandboxStage];

describe('docker-compose.yml', () => {
  it('runs the service in each role, and runs its stores and the sandbox', () => {
    expect(roles.map(({ environment }) => environment?.['ROLE']).sort()).toEqual(['api', 'projector', 'worker']);
    expect(Object.keys(services)).toEqual(expect.arrayContaining(['eventstore', 'redis', 'sandbox']));
  });

  it('runs all roles in one container with the embedded store in the embedded profile', () => {
    const { command = [], profiles, environment, depends_on: needed = {} } = services['embedded']!;
    expect([profiles, environment?.['EVENT_STORE'], Object.keys(needed)]).toEqual([
      ['embedded'],
      'embedded',
      ['redis', 'sandbox'],
    ]);
    const [program, script = '', ...processes] = command;
    expect([program, existsSync(script)]).toEqual(['node', true]);
    const [names, ports] = [0, 1].map((part) => new Set(processes.map((one) => one.split(':')[part])));
    expect([...names!].sort()).toEqual(['api', 'projector', 'worker']);
    expect(ports!.size).toBe(processes.length);
  });

  it('checks the health of every service, and dependent services wait until it is healthy', () => {
    for (const [name, { healthcheck, build, depends_on: needed = {} }] of Object.entries(services)) {
      // The image of this repository has a health check.
      expect([name, healthcheck !== undefined || build !== undefined]).toEqual([name, true]);
      for (const [other, { condition }] of Object.entries(needed)) {
        expect([name, other, condition]).toEqual([name, other, 'service_healthy']);
        expect(Object.keys(services)).toContain(other);
      }
    }
    for (const { depends_on: needed = {} } of roles)
      expect(Object.keys(needed)).toEqual(expect.arrayContaining(['eventstore', 'redis']));
  });

  it('keeps all lasting data in a named volume, and gives Redis an append-only file', () => {
    for (const [name, service] of Object.entries(services)) {
      const mounted = (service.volumes ?? []).map((volume) => volume.split(':')[0]!);
      expect([name, mounted.length]).toEqual([name, 1]);
      expect(Object.keys(volumes)).toContain(mounted[0]);
    }
    expect(services['redis']?.command?.join(' ')).toContain('--appendonly yes');
  });

  it("restarts every service, limits its log files and removes rights that the service's image does not need", () => {
    for (const [name, { restart, logging, build, cap_drop: dropped, security_opt: security }] of Object.entries(
      services,
    )) {
      expect([name, restart, logging?.options]).toEqual([
        name,
        'unless-stopped',
        { 'max-size': expect.any(String), 'max-file': expect.any(String) },
      ]);
      if (build !== undefined)
        expect([name, dropped, security?.[0]]).toEqual([name, ['ALL'], 'no-new-privileges:true']);
    }
  });

  it("gives the browser's seccomp profile only to the containers with a worker", () => {
    for (const [name, { environment, command = [], security_opt: security = [] }] of Object.entries(services)) {
      const prints = environment?.['ROLE'] === 'worker' || command.some((part) => part.startsWith('worker:'));
      expect([name, security.slice(1)]).toEqual([name, prints ? ['seccomp:deploy/seccomp.json'] : []]);
    }
    expect(existsSync('deploy/seccomp.json')).toBe(true);
  });

  it('has no default for a secret', () => {
    const environments = Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment));
    const secrets = environments.filter(([name]) => /KEY|SECRET|PASSWORD|CREDENTIAL/.test(name));
    expect(secrets.map(([name]) => name)).toEqual(
      expect.arrayContaining(['VAULT_MASTER_KEY', 'JWT_SIGNING_KEY', 'IDENTITY_VENDOR_KEY']),
    );
    for (const [name, value] of secrets) expect([name, value]).toEqual([name, expect.stringMatching(/^\$\{\w+:-\}$/)]);
  });

  it('gives other containers metrics and the internal port, and opens only the API and the sandbox to this machine', () => {
    for (const { environment } of roles)
      expect(environment).toMatchObject({ METRICS_HOST: '0.0.0.0', INTERNAL_HOST: '0.0.0.0' });
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
    expect(published).toEqual([
      ['sandbox', '127.0.0.1:3001:3001'],
      ['api', '127.0.0.1:3000:3000'],
      ['embedded', '127.0.0.1:3000:3000'],
    ]);
  });

  it('lets the sandbox send its notices to the internal port of the API', () => {
    const { host } = new URL(String(services['sandbox']!.environment?.['PROCESSOR_EVENTS_URL']));
    expect(services['sandbox']!.environment?.['SANDBOX_NOTICES_URL']).toBe(`http://${host}`);
    for (const { environment } of roles) expect(host).toBe(`api:${environment?.['INTERNAL_PORT']}`);
  });

  it('lets browsers load the scripts of the embedded component from the sandbox', () => {
    for (const { environment } of roles)
      expect(environment).toMatchObject({
        PROCESSOR_JS_URL: expect.stringContaining('-http://localhost:3001/browser/processor.js}'),
        FINGERPRINT_SCRIPT_URL: expect.stringContaining('-http://localhost:3001/browser/fingerprint.js}'),
      });
  });

  it('passes each variable of .env to every role, and keeps the data in the volume even if .env names another folder', () => {
    for (const { env_file: files, environment } of [...roles, services['embedded']!]) {
      expect(files).toEqual([{ path: '.env', required: false }]);
      expect(environment).toMatchObject({ DATA_DIR: '/data', HOST: '0.0.0.0', PORT: '3000' });
    }
  });

  it('sets only variables that the service knows', () => {
    const known = [...readdirSync('src/config').map((file) => `src/config/${file}`), ...vendors]
      .map((file) => readFileSync(file, 'utf8'))
      .join();
    for (const { environment = {} } of roles) {
      for (const name of Object.keys(environment)) expect([name, known.includes(`'${name}'`)]).toEqual([name, true]);
    }
  });
});

describe('the Dockerfile', () => {
  it('uses exactly the Node version of the tests, and no flag that Docker before 25 refuses', () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)].map(([, from, name]) => ({ from, name }));
    const foreign = bases.filter(({ from }) => !bases.some(({ name }) => name === from));
    const { optionalDependencies: nodes } = JSON.parse(readFileSync('tools/node24/package.json', 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    const versions = foreign.map(({ from }) => /^node:(24\.\d+\.\d+)-slim@sha256:[0-9a-f]{64}$/.exec(from ?? '')?.[1]);
    expect([versions.length, new Set(Object.values(nodes))]).toEqual([1, new Set(versions)]);
    expect(dockerfile).not.toContain('--start-interval');
  });

  it('makes images that run as an ordinary user and check their own health; the last image is the service', () => {
    expect([...stages.keys()].at(-1)).toBe('service');
    for (const stage of OWN_IMAGES) {
      expect(stage).toMatch(/\nUSER node\n/);
      expect(stage.lastIndexOf('\nUSER node')).toBeLessThan(stage.lastIndexOf('\nCMD'));
      expect(stage).toMatch(/\nHEALTHCHECK /);
    }
  });

  it('puts only production dependencies and compiled code into the image', () => {
    // npm still installs three packages for development. test/e2e/ops/image.int.test.ts shows that the service does not need them.
    expect(dockerfile).toMatch(
      / AS dependencies\n(?:(?!\nFROM)[^])*npm ci --omit=dev && rm -r node_modules\/typescript node_modules\/prettier node_modules\/swagger-ui-dist\n/,
    );
    for (const stage of OWN_IMAGES) {
      expect(stage).toContain('COPY --from=dependencies /app/node_modules');
      expect(stage).not.toMatch(/npm (?:ci|install)|COPY (?:\. |src)/);
    }
  });

  it("includes the vendors' test doubles only in the sandbox image, which compose runs", () => {
    // test/e2e/ops/image.int.test.ts shows that the service starts without the test doubles.
    expect(sandboxStage).toContain('COPY --from=build /app/dist dist\n');
    expect(serviceStage).toContain('COPY --from=build /app/dist-service dist\n');
    expect(services['sandbox']?.build).toMatchObject({ target: 'sandbox' });
    for (const { build } of [...roles, services['embedded']!]) expect(build).toMatchObject({ target: 'service' });
  });

  it('includes the browser code that each image serves, and no demo page', () => {
    const brought = OWN_IMAGES.map((stage) => [...stage.matchAll(/^COPY --from=build \/app\/(dist-web\S*) (\S+)$/gm)]);
    expect(brought.map((copies) => copies.map(([, from]) => from))).toEqual([
      ['dist-web/embed', 'dist-web/frame', 'dist-web/reference'],
      ['dist-web/sandbox'],
    ]);
    for (const [, from, to] of brought.flat()) expect(to).toBe(from);
  });

  it('includes the browser that prints PDFs', () => {
    expect(serviceStage).toMatch(
      /\nRUN apt-get update && apt-get install -y --no-install-recommends chromium-headless-shell /,
    );
    expect(serviceStage.indexOf(' chromium-headless-shell ')).toBeLessThan(serviceStage.indexOf('\nUSER node'));
  });

  it('copies only existing files that .dockerignore does not exclude', () => {
    const letThrough = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files]) => files!.split(' '));
    expect(copied.length).toBeGreaterThan(3);
    for (const file of copied) {
      expect([file, existsSync(file)]).toEqual([file, true]);
      expect(letThrough).toContain(file);
    }
  });
});
