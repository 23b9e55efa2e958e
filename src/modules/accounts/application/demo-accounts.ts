// The accounts that the first start outside production makes, for trials of the service and for tests (docs/contract/general.md#demo-accounts).
import { isEmbeddable } from '../../../kernel/embeddable-origin.js';
import { derivedId } from '../../../kernel/ids.js';
import type { SettingsToSet } from '../domain/account.js';

export interface DemoAccount {
  readonly name: DemoName;
  readonly parent: DemoName | null;
  readonly settings: SettingsToSet;
  /** The number of reports that the prepaid credit pays for. */
  readonly credits: number;
  readonly live: { readonly publishable: boolean; readonly secret: boolean };
}

export type DemoName = 'demo' | 'child' | 'grandchild' | 'unrelated' | 'nopay' | 'broke' | 'unbilled';

/** Older demo accounts, from before product ids existed, get these ids too. */
export const DEMO_PRODUCT_IDS: readonly number[] = [1, 2];

const SUPPORT = 'support@example.test';
/** An image of a white house on blue. */
const LOGO =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAgMAAADXB5lNAAAACVBMVEUAAAAkVNb////RTAe8AAAAAXRSTlMAQObYZgAAALFJREFUeNrVlLsRxCAMRPcCl0A/V4ID44AS6MclEKAqbwQCBLqZS3yBFfjzZt7KgRcA2LzMjjLO9zn4/eXVvLXQJKcBO36aJYJDthnsFrgZHLcAeTiv9mVyD2kBMS+AaAaBKE0gEuUJEDWngpPBpUBgkBSIDPIAxRAH3RAH3RAHbWlbjBFRQzAiaghGRA2BMooDZRTn65a7gFyeDf7y4/7ui6mYKaGtqSmyqbo5DJbj4gNlwYlOjQshwQAAAABJRU5ErkJggg==';
const BRAND = { displayName: 'Elm Street Homes', logo: LOGO, privacyUrl: 'https://example.test/privacy' };
const PAYING: SettingsToSet = {
  payer: 'consumer',
  feeCents: 3_500,
  prepaidBilling: true,
  productIds: DEMO_PRODUCT_IDS,
  supportContact: SUPPORT,
};
const FREE: SettingsToSet = {
  payer: 'account',
  prepaidBilling: true,
  productIds: DEMO_PRODUCT_IDS,
  supportContact: SUPPORT,
};
const NONE = { publishable: false, secret: false };
const CREDITS = 1_000;

/** Parents come before children. Demo accounts are never provisioned for live traffic, so their live keys reach no vendor. */
export const DEMO_ACCOUNTS: readonly DemoAccount[] = [
  {
    name: 'demo',
    parent: null,
    settings: { ...PAYING, refundAfterDays: 14, brand: BRAND },
    credits: CREDITS,
    live: { publishable: true, secret: true },
  },
  { name: 'child', parent: 'demo', settings: PAYING, credits: CREDITS, live: NONE },
  { name: 'grandchild', parent: 'child', settings: PAYING, credits: CREDITS, live: NONE },
  { name: 'unrelated', parent: null, settings: PAYING, credits: CREDITS, live: NONE },
  { name: 'nopay', parent: null, settings: FREE, credits: CREDITS, live: NONE },
  { name: 'broke', parent: null, settings: FREE, credits: 0, live: NONE },
  {
    name: 'unbilled',
    parent: null,
    settings: { payer: 'consumer', feeCents: 3_500, productIds: DEMO_PRODUCT_IDS },
    credits: CREDITS,
    live: { publishable: true, secret: false },
  },
];

/** The id is the same on every installation, so that a second start opens no second account. */
export function demoAccountId(name: DemoName): string {
  return derivedId('demo-account', name);
}

export function demoOrigins(publicUrl: string, demoPort: number): string[] {
  const documented = ['http://localhost:5173', 'https://app.example.test', new URL(publicUrl).origin];
  // An IPv6 address cannot be an origin that embeds the component.
  return [...new Set([...documented, `http://localhost:${demoPort}`])].filter(isEmbeddable);
}
