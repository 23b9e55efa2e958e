// The settings of a vendor in the environment variables. Each vendor folder declares a schema, with which the configuration reads the variables.

interface Setting {
  /** The default is derived from the vendor's id and the setting's name, such as VENDOR_ACME_CLIENT_ID. */
  readonly variable?: string;
  /**
   * The variable for the vendor of the test environment in production. The default is derived as well (VENDOR_ACME_TEST_CLIENT_ID), unless `variable`
   * is set. If it is missing, the sandbox is used.
   */
  readonly testVariable?: string;
  /** The value for the sandbox when nothing is set. The value is published, so production refuses it. */
  readonly published?: string;
  /** The adapter does without the setting. */
  readonly optional?: true;
}

export type VendorSetting =
  /** The vendor's address. `sandboxPath`: the path of the double below the sandbox's address. The default is `/vendors/<id>`. */
  | (Setting & { readonly kind: 'url'; readonly sandboxPath?: string })
  /**
   * `secrets`: a comma list. All secrets are valid while a new secret replaces an old one. `pem`: a certificate or a key. The variable with `_FILE`
   * names a file instead. `marks`: the vendor's prefixes of the secrets in each environment, by which a secret of the other environment is recognised.
   */
  | (Setting & {
      readonly kind: 'secret' | 'secrets' | 'pem';
      readonly marks?: { readonly live: RegExp; readonly test: RegExp };
    })
  /** `fallback`: the value in every environment when nothing is set. */
  | (Setting & { readonly kind: 'text'; readonly fallback?: string })
  | (Setting & { readonly kind: 'choice'; readonly words: readonly string[]; readonly fallback?: string })
  | (Setting & { readonly kind: 'number'; readonly min: number; readonly max: number; readonly fallback?: number });

export type SettingsSchema = Readonly<Record<string, VendorSetting>>;

/** A function reads the secret's file again, and throws if the file is missing. It is called again when the vendor refuses the secret. */
export type Secret = string | (() => string);

/** The function's error could quote the secret or its place, so the error goes no further. */
export function secretOf(secret: Secret): string {
  return typeof secret === 'string' ? secret : secret();
}

export type SettingValue = Secret | number;

type ValueOf<Kind> = Kind extends 'number' ? number : Kind extends 'secret' | 'secrets' | 'pem' ? Secret : string;

/** Null for an optional setting that is not set. */
export type SettingsOf<Schema extends SettingsSchema> = {
  readonly [Name in keyof Schema]:
    ValueOf<Schema[Name]['kind']> | (Schema[Name] extends { readonly optional: true } ? null : never);
};

export type SettingValues = Readonly<Record<string, SettingValue | null>>;

/** Null if the vendor is not configured. Outside production, both vendors are the sandbox's. */
export interface VendorSettings {
  readonly live: SettingValues | null;
  readonly test: SettingValues | null;
  /** The settings of accounts with credentials of their own, by the account's id. */
  readonly accounts?: Readonly<Record<'live' | 'test', Readonly<Record<string, SettingValues>>>>;
}

export interface VendorSchema {
  readonly id: string;
  /** Set for a further instance of a folder's contract (VENDOR_INSTANCES). */
  readonly folder?: string | undefined;
  readonly settings: SettingsSchema;
}

/** VENDOR_ACME_WEST_CLIENT_ID for the setting `clientId` of `acme-west`. */
export function variableOf(id: string, name: string): string {
  const words = `VENDOR_${id}_${name.replace(/[A-Z]/g, (letter) => `_${letter}`)}`;
  return words.replaceAll('-', '_').toUpperCase();
}

/** The variables of a setting, for live traffic and for test traffic in production. */
export function variablesOf(
  id: string,
  name: string,
  setting: VendorSetting,
): { readonly variable: string; readonly testVariable: string | undefined } {
  const derived = setting.variable === undefined ? variableOf(id, `test_${name}`) : undefined;
  return { variable: setting.variable ?? variableOf(id, name), testVariable: setting.testVariable ?? derived };
}

/** The value of VENDOR_INSTANCES: a comma list of further vendors with the contract of a folder, such as `acme-west:acme`. */
export function instancesIn(list: string): readonly { readonly id: string; readonly folder: string }[] {
  return list
    .split(',')
    .map((part) => part.trim().split(':'))
    .filter((parts) => parts.join('') !== '')
    .map(([id = '', folder = '']) => ({ id, folder }));
}
