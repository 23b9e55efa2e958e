// The loader of the npm package, with a page that has only what the loader uses.
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';

interface Script {
  src: string;
  readonly listeners: Record<string, () => void>;
  isRemoved: boolean;
}
type Loader = typeof import('../../../web/embed/loader.js');

const host = globalThis as unknown as { document?: object; Service?: object };
const BASE = 'https://api.example.test';
const SERVICE = { init: async (...args: unknown[]) => args };
let scripts: Script[];
let loader: Loader;

beforeEach(async () => {
  jest.resetModules();
  loader = await import('../../../web/embed/loader.js');
  scripts = [];
  host.document = {
    createElement: () => {
      const listeners: Record<string, () => void> = {};
      return {
        src: '',
        listeners,
        isRemoved: false,
        addEventListener: (name: string, listener: () => void) => (listeners[name] = listener),
        remove(this: Script) {
          this.isRemoved = true;
        },
      };
    },
    head: { append: (script: Script) => scripts.push(script) },
  };
});
afterEach(() => {
  delete host.document;
  delete host.Service;
});

function arrives(script: Script | undefined): void {
  host.Service = SERVICE;
  script?.listeners['load']?.();
}

it('all calls share one script, and get the global that it sets', async () => {
  const calls = [loader.loadScreening(BASE), loader.loadScreening(`${BASE}/`)];
  expect(scripts.map(({ src }) => src)).toEqual([`${BASE}/embed/v1/service.js`]);
  arrives(scripts[0]);
  expect(await Promise.all(calls)).toEqual([SERVICE, SERVICE]);
  expect(await loader.loadScreening(BASE)).toBe(SERVICE);
  expect(scripts).toHaveLength(1);
});

it('a page that has the script already keeps it', async () => {
  host.Service = SERVICE;
  expect(await loader.loadScreening(BASE)).toBe(SERVICE);
  expect(scripts).toEqual([]);
});

it.each([{ name: 'of another library' }, { init: true }, null, 'text'])(
  'another global Service is not taken for the script: %j',
  async (other) => {
    host.Service = other as object;
    const loading = loader.loadScreening(BASE);
    expect(scripts).toHaveLength(1);
    arrives(scripts[0]);
    expect(await loading).toBe(SERVICE);
  },
);

it.each([
  ['could not be loaded', 'error'],
  ['sets no global', 'load'],
])('a script that %s rejects, and the next call tries again', async (_what, event) => {
  const failed = loader.loadScreening(BASE);
  scripts[0]?.listeners[event]?.();
  const message = `The script ${BASE}/embed/v1/service.js could not be loaded.`;
  await expect(failed).rejects.toMatchObject({ message, code: 'SCRIPT_LOAD_FAILED' });
  expect(scripts[0]?.isRemoved).toBe(true);
  const again = loader.loadScreening(BASE);
  arrives(scripts[1]);
  expect(await again).toBe(SERVICE);
});

it('a page cannot load the scripts of two services', async () => {
  const loading = loader.loadScreening(BASE);
  const refused = await loader.loadScreening('https://other.example.test').catch((error: unknown) => error);
  expect(refused).toMatchObject({ message: `The page has already loaded ${BASE}/embed/v1/service.js.` });
  expect(refused).not.toHaveProperty('code');
  arrives(scripts[0]);
  expect(await loading).toBe(SERVICE);
});

it.each([undefined, 7, '', 'api.example.test', 'javascript:alert(1)', 'https://'])(
  'a text that is not an address is refused: %s',
  async (address) => {
    await expect(loader.loadScreening(address as string)).rejects.toThrow(/^baseUrl must be/);
    expect(scripts).toEqual([]);
  },
);

it('on a server it rejects, and says that it needs a page', async () => {
  delete host.document;
  await expect(loader.loadScreening(BASE)).rejects.toThrow('loadScreening needs a page');
});

it('Service.init loads the script from baseUrl, and passes everything on', async () => {
  const made = loader.Service.init('pk_test_0123456789abcdef', { baseUrl: BASE, locale: 'es' });
  arrives(scripts[0]);
  expect(await made).toEqual(['pk_test_0123456789abcdef', { baseUrl: BASE, locale: 'es' }]);
  await expect(loader.Service.init('pk_test_0123456789abcdef')).rejects.toThrow('baseUrl is needed');
});
