// The vendors of an installation: finds their folders, opens their adapters, and returns the capabilities of each.
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import { FIRST_VENDORS, type Capability, type ChosenCapability } from '../kernel/vendor-choice.js';
import { instancesIn, type SettingValues, type VendorSettings } from '../kernel/vendor-settings.js';
import type { KnownPerson } from '../kernel/vendor-subject.js';
import type { VendorCall } from '../ports/vendor-call.js';
import type { NoticeReader, VendorNotices } from '../ports/vendor-notices.js';
import { Vendors, type ChargedCurrency, type VendorLimits } from '../ports/vendors.js';
import { certificateOf, levelOf } from './certificate.js';
import type { Needs, OpenVendor, Vendor, VendorPorts } from './define-vendor.js';

const FOLDERS = join(import.meta.dirname, '..', 'vendors');

/** Operations that the service repeats under the same key until their outcome is known. */
const REPEATED: { readonly [Name in Capability]: readonly (keyof VendorPorts[Name] & string)[] } = {
  identity: [],
  credit: ['pullReport'],
  income: ['start'],
  payment: ['createIntent', 'changeIntent'],
};

/** The vendors whose folders are in `root`, and the further instances of their contracts. */
export async function findVendors(
  root = FOLDERS,
  instances = process.env['VENDOR_INSTANCES'] ?? '',
): Promise<readonly Vendor[]> {
  const found = await vendorsIn(root);
  // The configuration refuses the others.
  const further = instancesIn(instances).flatMap(({ id, folder }) => {
    const vendor = found.find((one) => one.id === folder);
    const isNew = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(id) && !found.some((one) => one.id === id);
    return vendor !== undefined && isNew ? [instanceOf(vendor, id)] : [];
  });
  return [...found, ...further];
}

/** All variables of an instance have the names that are derived from its id. */
function instanceOf(vendor: Vendor, id: string): Vendor {
  const settings = Object.entries(vendor.settings).map(([name, setting]) => {
    const { variable: _live, testVariable: _test, ...own } = setting;
    return [name, own];
  });
  const { credit, income } = vendor.capabilities;
  const needs = (all: Needs): Needs =>
    all === 'applicant'
      ? all
      : all.map((one) => (one === `session-of:${vendor.id}` ? (`session-of:${id}` as const) : one));
  return {
    ...vendor,
    id,
    folder: vendor.id,
    capabilities: {
      ...vendor.capabilities,
      ...(credit && { credit: { ...credit, needs: needs(credit.needs) } }),
      ...(income && { income: { ...income, needs: needs(income.needs) } }),
    },
    settings: Object.fromEntries(settings) as Vendor['settings'],
  };
}

async function vendorsIn(root: string): Promise<readonly Vendor[]> {
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
  /** The adapters of accounts with credentials of their own, by vendor, environment and account. */
  private readonly ofAccounts = new Map<string, OpenVendor>();
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
      const { id, limits } = vendor;
      const settings = this.settingsOf(id);
      const limitMs = Math.min(timeoutMs, limits?.timeoutMs ?? timeoutMs);
      const open = (values: SettingValues): Promise<OpenVendor> => vendor.open(values as never, limitMs);
      this.opened.set(id, await inEach(settings, open));
      for (const environment of ENVIRONMENTS)
        for (const [accountId, own] of Object.entries(settings.accounts?.[environment] ?? {}))
          this.ofAccounts.set(accountKey(id, environment, accountId), await open(own));
      const readers = await inEach(settings, async (values) => vendor.notices?.(values as never));
      if (readers.live ?? readers.test) this.readers.set(id, ofOwnEnvironment(readers));
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

  override choices(of: ChosenCapability, environment?: Environment): readonly string[] {
    const route = { income: 'PAYROLL', banking: 'BANKING' } as const;
    if (of !== 'income' && of !== 'banking') return this.offering(of, environment);
    return this.offering('income', environment).filter((id) => {
      const { routes } = this.vendors.get(id)?.capabilities.income ?? {};
      return routes?.includes(route[of]) ?? true;
    });
  }

  override having(capability: Capability): readonly string[] {
    return [...this.vendors.values()].flatMap(({ id, capabilities }) => (capabilities[capability] ? [id] : []));
  }

  override limitsOf(vendor: string): VendorLimits {
    return this.vendors.get(vendor)?.limits ?? {};
  }

  override certifiedAs(vendor: string): string | null {
    const certificate = certificateOf(this.vendors.get(vendor)?.folder ?? vendor);
    return certificate && levelOf(certificate);
  }

  override knowsPersonBy(
    capability: 'credit' | 'income' | 'banking',
    vendor: string,
    identityVendor: string,
  ): KnownPerson['kind'] | null {
    const needs = this.vendors.get(vendor)?.capabilities[capability === 'banking' ? 'income' : capability]?.needs ?? [];
    if (needs === 'applicant') return needs;
    return needs.includes(`session-of:${identityVendor}`) ? 'session' : null;
  }

  override speaksDirect(capability: 'identity' | 'credit', vendor: string): boolean {
    return this.vendors.get(vendor)?.capabilities[capability]?.speaks !== undefined;
  }

  override currency(code: string, processor = FIRST_VENDORS.payment): ChargedCurrency | null {
    const currencies = this.vendors.get(processor)?.capabilities.payment?.currencies ?? {};
    return Object.hasOwn(currencies, code) ? (currencies[code] ?? null) : null;
  }

  /** The names of all operations that a vendor of the capability has. */
  operationsOf(capability: Capability): readonly string[] {
    const named = [...this.vendors.values()].flatMap(({ capabilities }) =>
      Object.keys(capabilities[capability]?.operations ?? {}),
    );
    return [...new Set(named)];
  }

  /** The adapter for a call; null if its vendor is not configured. Test traffic never reaches a live vendor. */
  of<Name extends Capability>(
    capability: Name,
    {
      vendor = FIRST_VENDORS[capability],
      environment,
      accountId,
    }: Pick<VendorCall, 'vendor' | 'environment' | 'accountId'>,
  ): VendorPorts[Name] | null {
    const own = accountId ? this.ofAccounts.get(accountKey(vendor, environment, accountId)) : undefined;
    const adapters: OpenVendor | null | undefined = own ?? this.opened.get(vendor)?.[environment];
    return (adapters?.[capability] as VendorPorts[Name] | undefined) ?? null;
  }

  async close(): Promise<void> {
    const common = [...this.opened.values()].flatMap(({ live, test }) => [live, test]);
    const all = new Set([...common, ...this.ofAccounts.values()]);
    await Promise.all([...all].map(async (vendor) => vendor?.close()));
  }

  private settingsOf(id: string): VendorSettings {
    return this.settings[id] ?? { live: null, test: null };
  }
}

/** Both environments share the result if their settings are the same. */
async function inEach<Made>(
  { live, test }: VendorSettings,
  make: (values: SettingValues) => Promise<Made>,
): Promise<Record<Environment, Made | null>> {
  const forLive = live && (await make(live));
  return { live: forLive, test: test === live ? forLive : test && (await make(test)) };
}

function accountKey(vendor: string, environment: Environment, accountId: string): string {
  return `${vendor} ${environment} ${accountId}`;
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
