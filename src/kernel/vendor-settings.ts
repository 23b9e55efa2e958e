// The settings of a vendor in the environment variables. Each vendor folder declares a schema, with which the configuration reads the variables.

export interface VendorSetting {
  /** `url`: the vendor's address. `secrets`: a comma list. All secrets are valid while a new secret replaces an old one. */
  readonly kind: 'url' | 'secret' | 'secrets';
  readonly variable: string;
  /** The variable for the vendor of the test environment in production. If it is missing, the sandbox is used. */
  readonly testVariable?: string;
  /** The value for the sandbox when nothing is set. The value is published, so production refuses it. */
  readonly published?: string;
  /** The vendor's prefixes of the secrets in each environment, by which a secret of the other environment is recognised. */
  readonly marks?: { readonly live: RegExp; readonly test: RegExp };
  /** The path of the vendor's double below the sandbox's address. The default is `/vendors/<id>`. */
  readonly sandboxPath?: string;
  /** The adapter itself has the vendor's address. */
  readonly optional?: true;
}

export type SettingsSchema = Readonly<Record<string, VendorSetting>>;

/** Null for an optional address that is not set. */
export type SettingsOf<Schema extends SettingsSchema> = {
  readonly [Name in keyof Schema]: Schema[Name] extends { readonly optional: true } ? string | null : string;
};

/** Null if the vendor is not configured. Outside production, both vendors are the sandbox's. */
export interface VendorSettings {
  readonly live: Readonly<Record<string, string | null>> | null;
  readonly test: Readonly<Record<string, string | null>> | null;
}
