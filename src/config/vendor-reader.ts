// Reads the settings of the vendors' schemas from the environment variables and from the files that the variables name.
import { readFileSync } from 'node:fs';
import { FIRST_VENDORS } from '../kernel/vendor-choice.js';
import {
  type Secret,
  type SettingValue,
  type SettingValues,
  type VendorSchema,
  type VendorSetting,
  type VendorSettings,
  variableOf,
  variablesOf,
} from '../kernel/vendor-settings.js';
import { listIn, type Variables } from './variables.js';
import { urlIn } from '../kernel/url.js';

interface Named {
  readonly name: string;
  readonly setting: VendorSetting;
  readonly variable: string;
  readonly testVariable: string | undefined;
  /** The address of the vendor's double; null without a sandbox. */
  readonly sandboxUrl: string | null;
}

type SecretSetting = Extract<VendorSetting, { readonly kind: 'secret' | 'secrets' | 'pem' }>;
type WordSetting = Extract<VendorSetting, { readonly kind: 'text' | 'choice' | 'number' }>;

const REREAD_RULE = 'must name a file that can be read and is not empty';

export class VendorReader {
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
  settingsOf(vendor: VendorSchema): VendorSettings {
    const { production } = this.env;
    const needed = Object.values<string>(FIRST_VENDORS).includes(vendor.id);
    const settings = Object.entries(vendor.settings).map(([name, setting]) => this.named(vendor, name, setting));
    // Every variable is looked at, because the others are refused (`Variables.refuseOthers`).
    const isSet = (of: (setting: Named) => string | undefined): boolean =>
      settings.map((setting) => this.isSet(setting.setting, of(setting))).includes(true);
    const [isLive, isTest] = [isSet(({ variable }) => variable), isSet(({ testVariable }) => testVariable)];
    const read = (one: (setting: Named) => SettingValue | null): SettingValues =>
      Object.fromEntries(settings.map((setting) => [setting.name, one(setting)]));
    const live = !production || needed || isLive ? read((setting) => this.live(setting)) : null;
    const hasTest = this.sandboxUrl !== null && (needed || isTest);
    const test = production ? (hasTest ? read((setting) => this.test(setting)) : null) : live;
    const accounts = {
      live: this.accountsIn(variableOf(vendor.id, 'accountsFile'), settings, live),
      test: this.accountsIn(variableOf(vendor.id, 'testAccountsFile'), settings, test),
    };
    const some = [...Object.keys(accounts.live), ...Object.keys(accounts.test)].length > 0;
    return { live, test, ...(some && { accounts }) };
  }

  private named({ id, folder = id }: VendorSchema, name: string, setting: VendorSetting): Named {
    const variables = variablesOf(id, name, setting);
    const path = (setting.kind === 'url' ? setting.sandboxPath : undefined) ?? `/vendors/${folder}`;
    const sandboxUrl = this.sandboxUrl && this.sandboxUrl + path;
    return { name, setting, ...variables, sandboxUrl };
  }

  private isSet(setting: VendorSetting, name: string | undefined): boolean {
    if (name === undefined) return false;
    const [value, file] = [this.env.text(name), isSecret(setting) ? this.env.text(fileOf(name)) : null];
    if (value !== null && file !== null) this.env.fault(fileOf(name), `must not be set together with ${name}`);
    return (value ?? file) !== null;
  }

  /** Production must configure each live vendor, and its sandbox is used for test traffic only. */
  private live({ setting, variable, sandboxUrl }: Named): SettingValue | null {
    if (isSecret(setting)) return this.secret(variable, setting, setting.marks?.test);
    if (setting.kind !== 'url') return this.word(variable, setting);
    const value = this.env.secureUrl(variable, this.env.production ? null : sandboxUrl, { local: true });
    return setting.optional ? value : this.env.inProduction(variable, value);
  }

  private test({ setting, variable, testVariable, sandboxUrl }: Named): SettingValue | null {
    if (setting.kind === 'url')
      return testVariable === undefined ? sandboxUrl : this.env.secureUrl(testVariable, sandboxUrl, { local: true });
    if (testVariable === undefined) return null;
    if (!isSecret(setting)) return this.word(testVariable, setting);
    if (!setting.optional && !this.isSet(setting, testVariable))
      this.env.fault(testVariable, 'must be set together with SANDBOX_URL');
    const secret = this.secret(testVariable, setting, setting.marks?.live);
    const live = partsOf(this.secretIn(variable), setting.kind);
    if (partsOf(this.secretIn(testVariable), setting.kind).some((one) => live.includes(one)))
      this.env.fault(testVariable, `must differ from ${variable}`);
    return secret;
  }

  private word(name: string, setting: WordSetting): SettingValue | null {
    const { published = null, fallback = null, optional } = setting;
    const value = this.env.text(name) ?? (this.env.production ? null : published) ?? fallback;
    if (value === null)
      return optional ? null : (this.env.inProduction(name, null) ?? (setting.kind === 'number' ? 0 : ''));
    return this.checked(name, setting, value);
  }

  /** Records the fault of a wrong value. */
  private checked(name: string, setting: WordSetting, value: string | number): string | number {
    if (setting.kind === 'choice' && !setting.words.includes(String(value)))
      this.env.fault(name, `must be one of ${setting.words.join(', ')}`);
    if (setting.kind !== 'number') return String(value);
    const { min, max } = setting;
    const number = Number(value);
    if (!(number >= min && number <= max)) this.env.fault(name, `must be a number from ${min} to ${max}`);
    return number;
  }

  /** A secret, or a list of secrets. Outside production, the default is the sandbox's secret. `foreign`: the prefix of the other environment. */
  private secret(name: string, setting: SecretSetting, foreign: RegExp | undefined): Secret | null {
    const { published = '', optional } = setting;
    const value = this.secretIn(name) ?? (this.env.production ? null : published);
    const file = this.env.text(fileOf(name));
    this.checkSecret(name, setting, value, foreign);
    if (file !== null) return () => textIn(file);
    return optional && (value === null || value === '') ? null : (this.env.inProduction(name, value) ?? '');
  }

  private checkSecret(name: string, { kind }: SecretSetting, value: string | null, foreign?: RegExp): void {
    if (kind === 'pem' && value && !value.startsWith('-----BEGIN ')) this.env.fault(name, 'must be PEM text');
    if (!this.env.production) return;
    for (const one of partsOf(value, kind)) {
      this.env.refuseWeak(name, one);
      if (foreign?.test(one)) this.env.fault(name, 'must not be a secret of the other environment');
      if (this.published.includes(one))
        this.env.fault(name, 'must not be the published secret of the sandbox in production');
    }
  }

  /** The text of the variable, or of the file that the variable with `_FILE` names. */
  private secretIn(name: string): string | null {
    const file = this.env.text(fileOf(name));
    if (file === null) return this.env.text(name);
    try {
      return textIn(file);
    } catch {
      this.env.fault(fileOf(name), REREAD_RULE);
      return '';
    }
  }

  /** The file is JSON: by the account's id, the settings that differ from the vendor's. Messages quote no value. */
  private accountsIn(
    variable: string,
    settings: readonly Named[],
    common: SettingValues | null,
  ): Readonly<Record<string, SettingValues>> {
    const file = this.env.text(variable);
    if (file === null) return {};
    const accounts = tableIn(file);
    if (common === null || accounts === null) {
      this.env.fault(
        variable,
        common === null ? 'needs the settings of the vendor itself' : 'must name a JSON file of settings by account',
      );
      return {};
    }
    return Object.fromEntries(
      Object.entries(accounts).map(([account, own]) => {
        const values = Object.entries(own).map(([name, value]) => {
          const known = settings.find((setting) => setting.name === name);
          if (known === undefined) this.env.fault(variable, `must not have other settings than ${namesOf(settings)}`);
          return [name, known && this.ofAccount(variable, known, value, () => tableIn(file)?.[account]?.[name])];
        });
        return [account, { ...common, ...(Object.fromEntries(values) as SettingValues) }];
      }),
    );
  }

  private ofAccount(
    variable: string,
    { setting }: Named,
    value: string | number,
    again: () => string | number | undefined,
  ): SettingValue {
    if (isSecret(setting)) {
      this.checkSecret(variable, setting, String(value));
      return () => String(again() ?? value);
    }
    if (setting.kind !== 'url') return this.checked(variable, setting, value);
    if (urlIn(String(value)) === null || (this.env.production && !String(value).startsWith('https:')))
      this.env.fault(variable, 'must have https URLs');
    return String(value).replace(/\/+$/, '');
  }
}

function fileOf(name: string): string {
  return `${name}_FILE`;
}

function isSecret(setting: VendorSetting): setting is SecretSetting {
  return setting.kind === 'secret' || setting.kind === 'secrets' || setting.kind === 'pem';
}

function partsOf(value: string | null, kind: SecretSetting['kind']): string[] {
  return kind === 'pem' ? [value ?? ''].filter((text) => text !== '') : listIn(value);
}

function namesOf(settings: readonly Named[]): string {
  return settings.map(({ name }) => name).join(', ');
}

/** Throws if the file is missing or empty. */
function textIn(file: string): string {
  const text = readFileSync(file, 'utf8').trim();
  if (text === '') throw new Error('The file of a secret is empty');
  return text;
}

/** Null for a file that is missing or has another form. */
function tableIn(file: string): Readonly<Record<string, Readonly<Record<string, string | number>>>> | null {
  try {
    const table = JSON.parse(readFileSync(file, 'utf8')) as unknown;
    const isTable = (value: unknown): value is Record<string, unknown> =>
      typeof value === 'object' && value !== null && !Array.isArray(value);
    const isValue = (value: unknown): boolean =>
      (typeof value === 'string' && value !== '') || typeof value === 'number';
    const isFit =
      isTable(table) && Object.values(table).every((own) => isTable(own) && Object.values(own).every(isValue));
    return isFit ? (table as Record<string, Record<string, string | number>>) : null;
  } catch {
    return null;
  }
}
