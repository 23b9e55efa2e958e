// The vendors of an installation: finds their folders, opens their adapters, and returns the capabilities of each.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import { FIRST_VENDORS, type Capability } from '../kernel/vendor-choice.js';
import type { KnownPerson } from '../kernel/vendor-subject.js';
import type { VendorSettings } from '../kernel/vendor-settings.js';
import type { VendorCall } from '../ports/vendor-call.js';
import type { NoticeReader, VendorNotices } from '../ports/vendor-notices.js';
import { Vendors, type ChargedCurrency, type VendorLimits } from '../ports/vendors.js';
import type { OpenVendor, Vendor, VendorPorts } from './define-vendor.js';

const FOLDERS = join(import.meta.dirname, '..', 'vendors');

/** Operations that the service repeats under the same key until their outcome is known. */
const REPEATED: { readonly [Name in Capability]: readonly (keyof VendorPorts[Name] & string)[] } = {
  identity: [],
  credit: ['pullReport'],
  income: ['start'],
  payment: ['createIntent', 'changeIntent'],
};

/** The vendors whose folders are in `root`. */
export async function findVendors(root = FOLDERS): Promise<readonly Vendor[]> {
  const files = readdirSync(root)
    .sort()
    .flatMap((name) => ['vendor.js', 'vendor.ts'].map((file) => join(root, name, file)))
    .filter((file) => existsSync(file));
  return Promise.all(
    files.map(async (file) => {
      const { vendor } = (await import(pathToFileURL(file).href)) as { readonly vendor: Vendor };
      const folder = basename(join(file, '..'));
      if (vendor.id !== folder) throw new Error(`The vendor in the folder ${folder} calls itself ${vendor.id}`);
      refuseWhatMayNotBeRepeated(vendor);
      return vendor;
    }),
  );
}

/** Without idempotency, a repeated call would be billed twice. */
function refuseWhatMayNotBeRepeated({ id, capabilities }: Vendor): void {
  for (const [capability, repeated] of Object.entries(REPEATED) as [Capability, readonly string[]][]) {
    const operations: Readonly<Record<string, string>> = capabilities[capability]?.operations ?? {};
    for (const name of repeated) {
      if (operations[name] === 'at-most-once')
        throw new Error(`${id} cannot be used for ${capability}: ${name} is repeated, and must be idempotent there`);
    }
  }
}

/** The vendors of this installation and, after `open`, every adapter that this process can call. */
export class VendorRegistry extends Vendors implements VendorNotices {
  private readonly vendors: ReadonlyMap<string, Vendor>;
  private readonly opened = new Map<string, { readonly [Name in Environment]: OpenVendor | null }>();
  private readonly readers = new Map<string, NoticeReader>();

  constructor(
    found: readonly Vendor[],
    private readonly settings: Readonly<Record<string, VendorSettings>>,
  ) {
    super();
    this.vendors = new Map(found.map((vendor) => [vendor.id, vendor]));
  }

  /** Must precede the first call. A process that calls no vendor, such as an operator command, need not call it. */
  async open(timeoutMs: number): Promise<void> {
    for (const vendor of this.vendors.values()) {
      const { live, test } = this.settingsOf(vendor.id);
      const limitMs = Math.min(timeoutMs, vendor.limits?.timeoutMs ?? timeoutMs);
      const opened = live && (await vendor.open(live as never, limitMs));
      const forTest = test === live ? opened : test && (await vendor.open(test as never, limitMs));
      this.opened.set(vendor.id, { live: opened, test: forTest });
      const reads = live && (await vendor.notices?.(live as never));
      const readsTest = test === live ? reads : test && (await vendor.notices?.(test as never));
      if (reads || readsTest) this.readers.set(vendor.id, ofOwnEnvironment({ live: reads, test: readsTest }));
    }
  }

  readerOf(vendor: string): NoticeReader | null {
    return this.readers.get(vendor) ?? null;
  }

  override offering(capability: Capability, environment?: Environment): readonly string[] {
    return this.having(capability).filter((id) => {
      const { live, test } = this.settingsOf(id);
      return (environment === undefined ? (live ?? test) : { live, test }[environment]) !== null;
    });
  }

  override having(capability: Capability): readonly string[] {
    return [...this.vendors.values()].flatMap(({ id, capabilities }) => (capabilities[capability] ? [id] : []));
  }

  override limitsOf(vendor: string): VendorLimits {
    return this.vendors.get(vendor)?.limits ?? {};
  }

  override certifiedAs(vendor: string): string | null {
    const file = join(FOLDERS, vendor, 'certification.json');
    if (!existsSync(file)) return null;
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly level: string }).level;
  }

  override knowsPersonBy(
    capability: 'credit' | 'income',
    vendor: string,
    identityVendor: string,
  ): KnownPerson['kind'] | null {
    const needs = this.vendors.get(vendor)?.capabilities[capability]?.needs ?? [];
    if (needs === 'applicant') return needs;
    return needs.includes(`session-of:${identityVendor}`) ? 'session' : null;
  }

  override speaksDirect(capability: 'identity' | 'credit', vendor: string): boolean {
    return this.vendors.get(vendor)?.capabilities[capability]?.speaks !== undefined;
  }

  override currency(code: string): ChargedCurrency | null {
    const currencies = this.vendors.get(FIRST_VENDORS.payment)?.capabilities.payment?.currencies ?? {};
    return Object.hasOwn(currencies, code) ? (currencies[code] ?? null) : null;
  }

  /** The names of the default vendor's operations. */
  operationsOf(capability: Capability): readonly string[] {
    return Object.keys(this.vendors.get(FIRST_VENDORS[capability])?.capabilities[capability]?.operations ?? {});
  }

  /** The adapter for a call; null if its vendor is not configured. Test traffic never reaches a live vendor. */
  of<Name extends Capability>(
    capability: Name,
    { vendor = FIRST_VENDORS[capability], environment }: Pick<VendorCall, 'vendor' | 'environment'>,
  ): VendorPorts[Name] | null {
    return (this.opened.get(vendor)?.[environment]?.[capability] as VendorPorts[Name] | undefined) ?? null;
  }

  async close(): Promise<void> {
    const all = new Set([...this.opened.values()].flatMap(({ live, test }) => [live, test]));
    await Promise.all([...all].map(async (vendor) => vendor?.close()));
  }

  private settingsOf(id: string): VendorSettings {
    return this.settings[id] ?? { live: null, test: null };
  }
}

/** The secret of one environment vouches for no notice of the other. */
function ofOwnEnvironment(readers: Readonly<Record<Environment, NoticeReader | null | undefined>>): NoticeReader {
  return (request) => {
    const notices = ENVIRONMENTS.map((environment) => {
      const notice = readers[environment]?.(request) ?? null;
      return notice?.environment === environment ? notice : null;
    });
    return notices.find((notice) => notice !== null) ?? null;
  };
}
