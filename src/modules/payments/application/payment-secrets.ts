import { Injectable } from '@nestjs/common';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import type { VaultPromise } from '../../../kernel/vault-promise.js';
import { Vault } from '../../../ports/vault.js';
import { isErased, keepEntry, readEntry } from '../../../ports/vault-entry.js';
import { payment, type PaymentEvent } from '../domain/payment.js';

interface Content {
  /** The consumer's browser needs the secret to pay the intent. */
  readonly clientSecret: string;
}

/** The vault keeps the secret while the payment is open. Events of older payments do not promise the secret. */
export const PAYMENT_SECRETS: readonly VaultPromise[] = [
  {
    category: payment.category,
    type: 'PaymentIntentCreated' satisfies PaymentEvent['type'],
    place: ({ stream }, first) => {
      const { data } = first as RecordedEvent & Extract<PaymentEvent, { type: 'PaymentOpened' }>;
      return data.subjectId === undefined ? null : { subject: data.subjectId, entry: entryOf(idOf(stream)) };
    },
    until: ['PaymentSucceeded', 'PaymentCanceled'] satisfies PaymentEvent['type'][],
  },
];

/** The vault for payments. */
@Injectable()
export class PaymentSecrets {
  constructor(private readonly vault: Vault) {}

  isErased(subjectId: string): Promise<boolean> {
    return isErased(this.vault, subjectId);
  }

  /** False if the person was erased. */
  async keep(subjectId: string, paymentId: string, clientSecret: string): Promise<boolean> {
    const kept = await readEntry<Content>(this.vault, subjectId, entryOf(paymentId));
    if (kept !== null) return kept !== 'erased';
    return (await keepEntry(this.vault, subjectId, entryOf(paymentId), { clientSecret })) === 'kept';
  }

  /** Null if the payment has ended or the person was erased. */
  async of(subjectId: string, paymentId: string): Promise<string | null> {
    const kept = await readEntry<Content>(this.vault, subjectId, entryOf(paymentId));
    return kept === null || kept === 'erased' ? null : kept.clientSecret;
  }

  async forget(subjectId: string, paymentId: string): Promise<void> {
    await this.vault.remove(subjectId, entryOf(paymentId));
  }
}

function entryOf(paymentId: string): string {
  return `payment:${paymentId}`;
}
