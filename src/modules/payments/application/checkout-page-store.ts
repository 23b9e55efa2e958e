import { Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { VaultPromise } from '../../../kernel/vault-promise.js';
import type { CheckoutPage } from '../../../ports/payment-processor.js';
import { Vault } from '../../../ports/vault.js';
import { keepEntry, readEntry } from '../../../ports/vault-entry.js';
import { checkout, type CheckoutEvent, type Opening } from '../domain/checkout.js';

/** The caller's options for the page: return addresses, mail address, property. */
export type PageWish = Omit<CheckoutPage, 'reference' | 'sessionId'>;

/** The vault entry that stores the values of an opening. */
export type PagePlace = Pick<Opening, 'subjectId' | 'attemptId'>;

interface Content {
  readonly wish: PageWish;
  /** The address where the renter pays, when the session exists. */
  readonly url: string | null;
}

/** The vault keeps the options and address of the page until the opening ends. */
export const CHECKOUT_PAGES: readonly VaultPromise[] = [
  {
    category: checkout.category,
    type: 'CheckoutOpened' satisfies CheckoutEvent['type'],
    place: (event) => {
      const { data } = event as RecordedEvent & Extract<CheckoutEvent, { type: 'CheckoutOpened' }>;
      return { subject: data.subjectId, entry: entryOf(data) };
    },
    until: [
      'CheckoutAbandoned',
      'CheckoutReplaced',
      'CheckoutExpired',
      'CheckoutPaid',
    ] satisfies CheckoutEvent['type'][],
  },
];

/** The vault for checkouts. */
@Injectable()
export class CheckoutPageStore {
  constructor(private readonly vault: Vault) {}

  /** An earlier value is not replaced. False if the person was erased. */
  async keep(place: PagePlace, wish: PageWish): Promise<boolean> {
    const known = await this.of(place);
    if (known !== null) return known !== 'erased';
    return this.put(place, { wish, url: null });
  }

  /** False if the person was erased. */
  async keepUrl(place: PagePlace, wish: PageWish, url: string): Promise<boolean> {
    return this.put(place, { wish, url });
  }

  of({ subjectId, attemptId }: PagePlace): Promise<Content | null | 'erased'> {
    return readEntry<Content>(this.vault, subjectId, entryOf({ attemptId }));
  }

  async forget({ subjectId, attemptId }: PagePlace): Promise<void> {
    await this.vault.remove(subjectId, entryOf({ attemptId }));
  }

  private async put({ subjectId, attemptId }: PagePlace, content: Content): Promise<boolean> {
    return (await keepEntry(this.vault, subjectId, entryOf({ attemptId }), content)) === 'kept';
  }
}

function entryOf({ attemptId }: Pick<Opening, 'attemptId'>): string {
  return `checkout:${attemptId}`;
}
