import { Body, Controller, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiProperty, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { REFUND_REASONS, type RefundReason } from '../../../../kernel/refund-reason.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { RefundPayment } from '../../application/refund-payment.js';

class RefundBody {
  @ApiProperty({ enum: REFUND_REASONS, description: 'The event has it as `reason_code`' })
  @IsIn(REFUND_REASONS, { message: `must be one of ${REFUND_REASONS.join(', ')}` })
  reason: RefundReason;
}

class RefundResult {
  @ApiProperty() readonly transaction_id!: string;
  @ApiProperty({ format: 'uuid' }) readonly session_id!: string;
  @ApiProperty({
    enum: ['SUCCEEDED', 'REFUNDED'],
    description: '`SUCCEEDED` until the processor confirms the refund. The service asks until then',
  })
  readonly status!: string;
  @ApiProperty({ type: 'integer', description: 'Cents' }) readonly amount!: number;
  @ApiProperty({ example: 'usd' }) readonly currency!: string;
  @ApiProperty({ enum: REFUND_REASONS, description: 'The reason of the first request' }) readonly reason!: string;
}

/** Refunds of the account's own payments, for servers with a secret key (docs/contract/server.md#refunds). */
@ApiTags('payments')
@ApiSecurity('secret-key')
@Controller('v1/payments')
export class RefundsController {
  constructor(private readonly commands: CommandBus) {}

  @Post(':transaction_id/refund')
  @Limited({ by: ['vendorShare'] })
  @Operation({
    id: 'refundPayment',
    summary: 'Refund a whole payment',
    description:
      'A repeated request gives the same refund. A payment of a released report is refunded by the operator only.',
    body: RefundBody,
    replies: { 200: RefundResult },
    errors: ['payment.not_found', 'payment.not_completed', 'payment.report_under_way', 'payment.report_released'],
  })
  async refund(
    @Param('transaction_id') transactionId: string,
    @Body() { reason }: RefundBody,
    @CurrentContext() context: RequestContext,
  ): Promise<RefundResult> {
    const { sessionId, status, amountCents, currency, reasonCode } = await this.commands.execute(
      new RefundPayment(transactionId, reason, context),
    );
    return {
      transaction_id: transactionId,
      session_id: sessionId,
      status,
      amount: amountCents,
      currency,
      reason: reasonCode,
    };
  }
}
