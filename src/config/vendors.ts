import { FIRST_VENDORS } from '../kernel/vendor-choice.js';
import type { SettingsSchema, VendorSetting, VendorSettings } from '../kernel/vendor-settings.js';
import type { HttpSettings } from './http.js';
import { listIn, type Variables } from './variables.js';

/** The settings for reaching vendors, and the sandbox that replaces them. This class is also the injection token. */
export abstract class VendorsSettings {
  abstract readonly sandboxUrl: string | null;
  /** The port of the sandbox that `npm start` runs. With null, `npm start` runs no sandbox. */
  abstract readonly sandboxPort: number | null;
  /** Whether the test environment has vendors. Always true outside production. In production, true only when a sandbox is configured. */
  abstract readonly forTest: boolean;
  /** The settings of each vendor, by its id. */
  abstract readonly byId: Readonly<Record<string, VendorSettings>>;
  /** The number of simultaneous calls to one vendor that a worker process may make. */
  abstract readonly concurrency: number;
}

export interface VendorSchema {
  readonly id: string;
  readonly settings: SettingsSchema;
}

export function readVendors(
  env: Variables,
  lowestPort: number,
  { port }: HttpSettings,
  vendors: readonly VendorSchema[],
): VendorsSettings {
  const { production } = env;
  const namedPort = env.portAfter('SANDBOX_PORT', port, lowestPort);
  const sandboxPort = production || env.text('SANDBOX_URL') !== null ? null : namedPort;
  if (sandboxPort === port && env.text('SANDBOX_PORT') === null)
    env.fault('SANDBOX_PORT', `must be set when PORT is ${port}`);
  const sandboxUrl = sandboxPort === null ? env.storeUrl('SANDBOX_URL') : `http://127.0.0.1:${sandboxPort}`;
  const reader = new VendorReader(env, sandboxUrl, vendors);
  return {
    sandboxUrl,
    sandboxPort,
    forTest: !production || sandboxUrl !== null,
    byId: Object.fromEntries(vendors.map((vendor) => [vendor.id, reader.settingsOf(vendor)])),
    concurrency: env.number('VENDOR_CONCURRENCY', 64, { min: 1, max: 1_000 }),
  };
}

/** Reads the variables that are named in the vendors' schemas. */
class VendorReader {
  /** The published secrets of the sandbox. */
  private readonly published: readonly (string | undefined)[];

  constructor(
    private readonly env: Variables,
    private readonly sandboxUrl: string | null,
    vendors: readonly VendorSchema[],
  ) {
    this.published = vendors.flatMap(({ settings }) => Object.values(settings).map(({ published }) => published));
  }

  /** The default vendors must be configured. Another vendor is configured when one of its variables is set. */
  settingsOf({ id, settings }: VendorSchema): VendorSettings {
    const needed = Object.values<string>(FIRST_VENDORS).includes(id);
    const named = (variable: 'variable' | 'testVariable'): boolean =>
      Object.values(settings).some((setting) => this.env.text(setting[variable] ?? '') !== null);
    const read = (
      one: (setting: VendorSetting, sandboxUrl: string | null) => string | null,
    ): Readonly<Record<string, string | null>> =>
      Object.fromEntries(
        Object.entries(settings).map(([name, setting]) => [name, one(setting, this.sandboxUrlOf(id, setting))]),
      );
    const { production } = this.env;
    const live = !production || needed || named('variable') ? read((...one) => this.live(...one)) : null;
    if (!production) return { live, test: live };
    const testable = this.sandboxUrl !== null && (needed || named('testVariable'));
    return { live, test: testable ? read((...one) => this.test(...one)) : null };
  }

  private sandboxUrlOf(id: string, { sandboxPath = `/vendors/${id}` }: VendorSetting): string | null {
    return this.sandboxUrl && this.sandboxUrl + sandboxPath;
  }

  /** Production must configure each live vendor, and its sandbox is used for test traffic only. */
  private live(
    { kind, variable, optional, published = '', marks }: VendorSetting,
    sandboxUrl: string | null,
  ): string | null {
    if (kind !== 'url') return this.secret(variable, published, marks?.test);
    const value = this.env.secureUrl(variable, this.env.production ? null : sandboxUrl, { local: true });
    return optional ? value : this.env.inProduction(variable, value);
  }

  private test({ kind, variable, testVariable, marks }: VendorSetting, sandboxUrl: string | null): string | null {
    if (kind === 'url')
      return testVariable === undefined ? sandboxUrl : this.env.secureUrl(testVariable, sandboxUrl, { local: true });
    if (testVariable === undefined) return null;
    if (this.env.text(testVariable) === null) this.env.fault(testVariable, 'must be set together with SANDBOX_URL');
    const secret = this.secret(testVariable, '', marks?.live);
    const live = listIn(this.env.text(variable));
    if (listIn(secret).some((one) => live.includes(one))) this.env.fault(testVariable, `must differ from ${variable}`);
    return secret;
  }

  /** A secret, or a list of secrets. Outside production, the default is the sandbox's secret. `foreign`: the prefix of the other environment. */
  private secret(name: string, sandbox: string, foreign: RegExp | undefined): string {
    const value = this.env.text(name) ?? (this.env.production ? null : sandbox);
    for (const one of this.env.production ? listIn(value) : []) {
      this.env.refuseWeak(name, one);
      if (foreign?.test(one)) this.env.fault(name, 'must not be a secret of the other environment');
    }
    if (this.env.production && listIn(value).some((one) => this.published.includes(one)))
      this.env.fault(name, 'must not be the published secret of the sandbox in production');
    return this.env.inProduction(name, value) ?? '';
  }
}
