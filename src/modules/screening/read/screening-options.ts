import { Injectable } from '@nestjs/common';
import { leastAmountCents, mostApplicationFeeCents } from '../../../kernel/consumer-price.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import type { Terms } from '../../../kernel/terms.js';
import { Vendors } from '../../../ports/vendors.js';
import { Accounts, type UserType } from '../../../published/accounts.js';
import { SessionGrants } from '../../../published/session-grants.js';
import { INSTALLATION_TERMS } from '../domain/installation-terms.js';

/** What a page under a token may do. Amounts are in the smallest unit that the processor counts of the currency. */
export interface ScreeningOptions {
  readonly userTypes: readonly UserType[];
  readonly productIds: readonly number[];
  /** What a consumer pays; null: nothing. */
  readonly price: { readonly amountCents: number; readonly currency: string; readonly exponent: number } | null;
  /** Null: not fixed; not bounded, because nobody pays. */
  readonly applicationFee: { readonly fixedCents: number | null; readonly mostCents: number | null };
  /** What the grant of the token says; null without one. */
  readonly grant: {
    readonly userType: UserType | null;
    readonly endUserType: EndUserType | 'OTHER' | null;
    readonly applicationFeeCents: number | null;
  } | null;
  /** Where a person asks the account for help; null: nowhere. */
  readonly supportContact: string | null;
  readonly terms: { readonly version: string; readonly language: Language; readonly paragraphs: readonly string[] };
}

export type Language = keyof Terms['text'];

/** Tells pages what there is to choose before anything is submitted (docs/contract/platform.md#options). */
@Injectable()
export class ScreeningOptionsReader {
  constructor(
    private readonly accounts: Accounts,
    private readonly grants: SessionGrants,
    private readonly vendors: Vendors,
  ) {}

  /** Null where there is no such account. */
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
      terms: wordsOf(account.terms ?? INSTALLATION_TERMS, language),
    };
  }

  /** Of a currency that was chosen before the processor was asked, as most are counted. */
  private exponentOf(currency: string): number {
    return this.vendors.currency(currency)?.exponent ?? 2;
  }
}

function wordsOf({ version, text }: Terms, language: Language): ScreeningOptions['terms'] {
  const paragraphs = text[language];
  return paragraphs === undefined
    ? { version, language: 'en', paragraphs: text.en }
    : { version, language, paragraphs };
}
