// The list of payments for servers (docs/contract/server.md#lists).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { ListQuery, ListResult, OneOf } from '../../../../surfaces/server/list-query.js';
import { PAYMENT_STATUSES, type PaymentLists, transactionOf } from '../../read/payment-lists.js';

type Listed = Awaited<ReturnType<PaymentLists['page']>>['items'][number];
type Status = (typeof PAYMENT_STATUSES)[number];

export class PaymentsQuery extends ListQuery {
  @OneOf(PAYMENT_STATUSES)
  readonly status?: Status;

  @ApiPropertyOptional({ format: 'uuid', description: 'Only the payments of this screening session' })
  @IsOptional()
  @Matches(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/, { message: 'must be the id of a session, given once' })
  readonly session_id?: string;
}

class ListedPaymentResult {
  @ApiProperty({ example: 'txn_7d35c637-3891-8d91-a7ef-0757996866a8' }) readonly transaction_id!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) readonly session_id!: string | null;
  @ApiProperty({ enum: PAYMENT_STATUSES, description: 'A refunded payment stays `SUCCEEDED`' })
  readonly status!: string;
  @ApiProperty({ type: 'integer', description: 'Cents' }) readonly amount!: number;
  @ApiProperty({ type: 'integer', description: 'The cents that were refunded until now' })
  readonly amount_refunded!: number;
  @ApiProperty({ type: String, nullable: true, example: 'usd' }) readonly currency!: string | null;
  @ApiProperty({ format: 'date-time' }) readonly created_at!: string;
  @ApiProperty({ format: 'date-time' }) readonly updated_at!: string;
}

export class PaymentListResult extends ListResult {
  @ApiProperty({ type: [ListedPaymentResult], description: 'Newest first' })
  readonly data!: ListedPaymentResult[];
}

export function listedPayment(listed: Listed): ListedPaymentResult {
  const { sessionId, status, amountCents, refundedCents, currency, createdAt, updatedAt } = listed.doc;
  return {
    transaction_id: transactionOf(listed),
    session_id: sessionId,
    status,
    amount: amountCents,
    amount_refunded: refundedCents,
    currency,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}
