import { Injectable } from '@nestjs/common';
import { ENVIRONMENTS, type Environment } from '../../../kernel/environment.js';
import { listOf } from '../../../kernel/projection.js';
import { ListProgress, readPart, type ListPart } from '../../../ports/list-part.js';
import { ReadModels, type Page, type View } from '../../../ports/read-models.js';
import { transactionIdOf, type PaymentStatus } from '../domain/payment.js';
import { openPayments, type ListedPayment } from './open-payments.js';

export const PAYMENT_STATUSES = [
  'PENDING',
  'PROCESSING',
  'REQUIRES_ACTION',
  'SUCCEEDED',
  'FAILED',
] as const satisfies readonly PaymentStatus[];

/** The filters of a list of payments. A listed entry meets all filters that are given. */
export interface PaymentFilter {
  /** Undefined stands for both environments. */
  readonly environment?: Environment | undefined;
  readonly status?: PaymentStatus | undefined;
  /** `session` needs the account, so that a caller sees no payment of another account. */
  readonly of?: { readonly account: string; readonly session?: string | undefined } | undefined;
}

/** Lists of payments, for list routes and operator commands. */
@Injectable()
export class PaymentLists {
  constructor(
    private readonly readModels: ReadModels,
    private readonly progress: ListProgress,
  ) {}

  /** Payments by the time when they were opened, the newest first. */
  async page({ environment: asked, status, of }: PaymentFilter, part: ListPart): Promise<Page<ListedPayment>> {
    if (part.after === null) await this.progress.caughtUp(openPayments);
    const lists = (asked === undefined ? ENVIRONMENTS : [asked]).map((environment) =>
      listOf({ ...of, environment, status }),
    );
    const listed = { projection: openPayments, lists, sortOf: ({ createdAt }: ListedPayment) => createdAt };
    return readPart(this.readModels, listed, part);
  }
}

/** The id under which account holders know the payment. */
export function transactionOf({ id, doc }: View<ListedPayment>): string {
  return transactionIdOf(id, doc.reference);
}
