// The settings of a vendor in the environment. Each vendor folder declares a schema, and the configuration reads by it.

export interface VendorSetting {
  /** `url`: the vendor's address. `secrets`: a comma list, all valid while one replaces another. */
  readonly kind: 'url' | 'secret' | 'secrets';
  readonly variable: string;
  /** The variable for the vendor of the test environment in production. Without it the sandbox is used. */
  readonly testVariable?: string;
  /** The value for the sandbox when nothing is set. It is published, so production refuses it. */
  readonly published?: string;
  /** The vendor's marks on the secrets of each environment, which reveal a secret of the other one. */
  readonly marks?: { readonly live: RegExp; readonly test: RegExp };
  /** The adapter knows the vendor's own address. */
  readonly optional?: true;
}

export type SettingsSchema = Readonly<Record<string, VendorSetting>>;

/** Null for an optional address that is not set. */
export type SettingsOf<Schema extends SettingsSchema> = {
  readonly [Name in keyof Schema]: Schema[Name] extends { readonly optional: true } ? string | null : string;
};

/** Null when the vendor is not set up. Outside production both are the sandbox's. */
export interface VendorSettings {
  readonly live: Readonly<Record<string, string | null>> | null;
  readonly test: Readonly<Record<string, string | null>> | null;
}
