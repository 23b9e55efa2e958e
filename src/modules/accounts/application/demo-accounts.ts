// The accounts that the first start outside production makes, for trying the service and for tests (docs/contract/general.md#demo-accounts).
import { isEmbeddable } from '../../../kernel/embeddable-origin.js';
import { derivedId } from '../../../kernel/ids.js';
import type { SettingsToSet } from '../domain/account.js';

export interface DemoAccount {
  readonly name: DemoName;
  readonly parent: DemoName | null;
  readonly settings: SettingsToSet;
  /** Reports it may have by prepaid credit. */
  readonly credits: number;
  readonly live: { readonly publishable: boolean; readonly secret: boolean };
}

export type DemoName = 'demo' | 'child' | 'grandchild' | 'unrelated' | 'nopay' | 'broke' | 'unbilled';

/** Accounts that were opened before there were any get them too. */
export const DEMO_PRODUCT_IDS: readonly number[] = [1, 2];

const SUPPORT = 'support@example.test';
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

/** Parents before children. None is provisioned for live traffic, so that live keys reach no vendor. */
export const DEMO_ACCOUNTS: readonly DemoAccount[] = [
  {
    name: 'demo',
    parent: null,
    settings: { ...PAYING, refundAfterDays: 14 },
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

/** The same on every installation, so that starting twice opens nothing twice. */
export function demoAccountId(name: DemoName): string {
  return derivedId('demo-account', name);
}

export function demoOrigins(publicUrl: string, demoPort: number): string[] {
  const documented = ['http://localhost:5173', 'https://app.example.test', new URL(publicUrl).origin];
  // A service that is reached by an IPv6 address has no origin that may embed.
  return [...new Set([...documented, `http://localhost:${demoPort}`])].filter(isEmbeddable);
}
