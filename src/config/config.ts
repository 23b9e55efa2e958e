// Reads and validates the environment once (docs/contract/general.md#configuration). Each part of the service has settings of its own.
import type { VendorSchema } from '../kernel/vendor-settings.js';
import { DataFolderSettings, readDataFolder } from './data-folder.js';
import { EmbeddedSettings, readEmbedded } from './embedded.js';
import { EventStoreSettings, readEventStore } from './event-store.js';
import { HttpSettings, readHttp } from './http.js';
import { Limits, readLimits } from './limits.js';
import { MailSettings, readMail } from './mail.js';
import { PdfSettings, readPdf } from './pdf.js';
import { ProcessSettings, readProcess } from './process.js';
import { readRedis, RedisSettings } from './redis.js';
import { readSealing, SealSettings } from './sealing.js';
import { readTokenKeys, TokenKeySettings } from './token-keys.js';
import { readVault, VaultSettings } from './vault.js';
import { Variables } from './variables.js';
import { readVendors, VendorsSettings } from './vendors.js';

/** The settings of all parts of the service, from the environment. */
export interface Config {
  readonly process: ProcessSettings;
  readonly http: HttpSettings;
  readonly dataFolder: DataFolderSettings;
  readonly eventStore: EventStoreSettings;
  readonly redis: RedisSettings;
  readonly vault: VaultSettings;
  readonly tokenKeys: TokenKeySettings;
  readonly sealing: SealSettings;
  readonly vendors: VendorsSettings;
  readonly embedded: EmbeddedSettings;
  readonly pdf: PdfSettings;
  readonly mail: MailSettings;
  readonly limits: Limits;
  /** Names of limits that differ from their defaults. A production start logs these names. */
  readonly overrides: readonly string[];
  /** Names of limits against abuse that are switched off. A production start logs these names. */
  readonly switchedOff: readonly string[];
}

/** The injection token of each part's settings. */
export const SETTINGS = {
  process: ProcessSettings,
  http: HttpSettings,
  dataFolder: DataFolderSettings,
  eventStore: EventStoreSettings,
  redis: RedisSettings,
  vault: VaultSettings,
  tokenKeys: TokenKeySettings,
  sealing: SealSettings,
  vendors: VendorsSettings,
  embedded: EmbeddedSettings,
  pdf: PdfSettings,
  mail: MailSettings,
  limits: Limits,
} as const satisfies Record<Exclude<keyof Config, 'overrides' | 'switchedOff'>, unknown>;

/**
 * Throws InvalidConfig. `lowestPort`: for PORT and SANDBOX_PORT. Port 0 selects a free port, which is useful only for callers that need not know the
 * port in advance. `tools`: for the operator command line. `vendors`: the vendors whose settings are read.
 */
export function readConfig(
  variables: NodeJS.ProcessEnv,
  {
    lowestPort = 0,
    tools = false,
    vendors = [],
  }: { readonly lowestPort?: number; readonly tools?: boolean; readonly vendors?: readonly VendorSchema[] } = {},
): Config {
  const env = new Variables(variables);
  const http = readHttp(env, lowestPort);
  const dataFolder = readDataFolder(env);
  const vendorSettings = readVendors(env, lowestPort, http, vendors);
  const config = {
    http,
    dataFolder,
    vendors: vendorSettings,
    embedded: readEmbedded(env, vendorSettings),
    eventStore: readEventStore(env),
    redis: readRedis(env),
    process: readProcess(env, tools, http, dataFolder),
    vault: readVault(env, dataFolder),
    tokenKeys: readTokenKeys(env),
    sealing: readSealing(env),
    pdf: readPdf(env),
    mail: readMail(env),
    limits: readLimits(env),
    overrides: env.overrides,
    switchedOff: env.switchedOff,
  };
  if (vendors.length > 0) env.refuseOthers('VENDOR_');
  env.check();
  return config;
}
