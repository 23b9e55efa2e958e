import { instancesIn, type VendorSchema, type VendorSettings } from '../kernel/vendor-settings.js';
import type { HttpSettings } from './http.js';
import type { Variables } from './variables.js';
import { VendorReader } from './vendor-reader.js';

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
  const instances = instancesIn(env.text('VENDOR_INSTANCES') ?? '').map(({ id }) => id);
  const unknown = instances.some((id) => !vendors.some((vendor) => vendor.id === id && vendor.folder !== undefined));
  if (vendors.length > 0 && (unknown || new Set(instances).size < instances.length))
    env.fault('VENDOR_INSTANCES', 'must be a comma list of new ids, each with the id of a vendor: acme-west:acme');
  return {
    sandboxUrl,
    sandboxPort,
    forTest: !production || sandboxUrl !== null,
    byId: Object.fromEntries(vendors.map((vendor) => [vendor.id, reader.settingsOf(vendor)])),
    concurrency: env.number('VENDOR_CONCURRENCY', 64, { min: 1, max: 1_000 }),
  };
}
