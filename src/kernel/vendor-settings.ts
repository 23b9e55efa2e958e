// How the settings of a vendor are said in the environment. The schema is the vendor folder's; the configuration reads by it.

export interface VendorSetting {
  /** `url`: of the vendor. `secrets`: a comma list, all of them valid while one replaces another. */
  readonly kind: 'url' | 'secret' | 'secrets';
  readonly variable: string;
  /** The variable for the vendor of the test environment in production; an address without one is the sandbox's. */
  readonly testVariable?: string;
  /** What the sandbox takes where nothing is set. It is published: production refuses it. */
  readonly published?: string;
  /** How the vendor marks secrets of its environments, so that one is never taken for the other. */
  readonly marks?: { readonly live: RegExp; readonly test: RegExp };
  /** The vendor's own address is known to its adapter. */
  readonly optional?: true;
}

export type SettingsSchema = Readonly<Record<string, VendorSetting>>;

/** Null for an optional address that is not set. */
export type SettingsOf<Schema extends SettingsSchema> = {
  readonly [Name in keyof Schema]: Schema[Name] extends { readonly optional: true } ? string | null : string;
};

/** Null where the vendor is not set up. Outside production both are the sandbox's. */
export interface VendorSettings {
  readonly live: Readonly<Record<string, string | null>> | null;
  readonly test: Readonly<Record<string, string | null>> | null;
}
