import { Injectable } from '@nestjs/common';
import { leastAmountCents, mostApplicationFeeCents } from '../../../kernel/consumer-price.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import { shownIn, type Language } from '../../../kernel/terms.js';
import { Vendors } from '../../../ports/vendors.js';
import { Accounts, type AccountFacts, type UserType } from '../../../published/accounts.js';
import { SessionGrants } from '../../../published/session-grants.js';
import { INSTALLATION_TERMS } from '../domain/installation-terms.js';

/** The options of a page with a token. Amounts are in the smallest unit of the currency at the payment processor. */
export interface ScreeningOptions {
  readonly userTypes: readonly UserType[];
  readonly productIds: readonly number[];
  /** The price for a consumer; null if a consumer pays nothing. */
  readonly price: { readonly amountCents: number; readonly currency: string; readonly exponent: number } | null;
  /** `fixedCents` is null if the fee is not fixed. `mostCents` is null if a consumer pays nothing. */
  readonly applicationFee: { readonly fixedCents: number | null; readonly mostCents: number | null };
  /** The values that the token's grant sets; null without a grant. */
  readonly grant: {
    readonly userType: UserType | null;
    readonly endUserType: EndUserType | 'OTHER' | null;
    readonly applicationFeeCents: number | null;
  } | null;
  /** The account's contact for help; null if none exists. */
  readonly supportContact: string | null;
  readonly brand: AccountFacts['brand'];
  readonly terms: { readonly version: string; readonly language: Language; readonly paragraphs: readonly string[] };
}

export type { Language };

/** Tells pages before a submission which values they may choose (docs/contract/platform.md#options). */
@Injectable()
export class ScreeningOptionsReader {
  constructor(
    private readonly accounts: Accounts,
    private readonly grants: SessionGrants,
    private readonly vendors: Vendors,
  ) {}

  /** Null if the account does not exist. */
  async of(accountId: string, grantId: string | null, language: Language): Promise<ScreeningOptions | null> {
    const [account, grant] = await Promise.all([
      this.accounts.find(accountId),
      grantId === null ? null : this.grants.find(grantId),
    ]);
    if (account === null) return null;
    const { applicationFeeCents: fixedCents, currency, products, productIds, consumerPays } = account;
    const fees = {
      fixedByAccount: fixedCents,
      saidByGrant: grant?.applicationFeeCents ?? null,
      most: account.maxApplicationFeeCents,
    };
    const amountCents = consumerPays ? leastAmountCents(account.feeCents, fees) : null;
    return {
      userTypes: products,
      productIds,
      price: amountCents === null ? null : { amountCents, currency, exponent: this.exponentOf(currency) },
      applicationFee: {
        fixedCents,
        mostCents: amountCents === null ? null : mostApplicationFeeCents(amountCents, fees),
      },
      grant: grant && {
        userType: grant.userType,
        endUserType: grant.endUserType,
        applicationFeeCents: grant.applicationFeeCents,
      },
      supportContact: account.supportContact,
      brand: account.brand,
      terms: shownIn(account.terms ?? INSTALLATION_TERMS, language),
    };
  }

  /** The processor may not support a currency that an account chose long ago. The exponent is then 2, as for most currencies. */
  private exponentOf(currency: string): number {
    return this.vendors.currency(currency)?.exponent ?? 2;
  }
}
