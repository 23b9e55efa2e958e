import { Body, Controller, Header, Injectable, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiExcludeController, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString } from 'class-validator';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Authenticator } from '../../../../platform/http/authenticator.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { ConfirmPayment } from '../../application/confirm-payment.js';
import { CreateIntent } from '../../application/create-intent.js';

class CreateIntentBody {
  @ApiProperty({ type: 'integer', description: 'Cents; at least the fee of the account and 50.' })
  @IsInt({ message: 'must be a whole number of cents' })
  amount: number;

  @ApiPropertyOptional({
    type: 'integer',
    description:
      "Cents of the amount that the platform keeps; at most 1,000,000. Counts unless the account fixes it; must be the grant's where that says it.",
  })
  @IsOptional()
  @IsInt({ message: 'must be a whole number of cents' })
  applicationFee?: number;

  @ApiProperty({ type: String, format: 'uuid' })
  @IsString({ message: 'must be the id of a screening session' })
  screeningId: string;
}

class IntentResult {
  @ApiProperty({ description: '`txn_` and a UUID' }) readonly transaction_id!: string;
  @ApiProperty({ description: "For the processor's browser library. Do not store it." })
  readonly client_secret!: string;
  @ApiProperty({ type: 'integer', description: 'Cents' }) readonly amount!: number;
  @ApiProperty({ example: 'usd' }) readonly currency!: string;
}

class PaymentResult {
  @ApiProperty() readonly transaction_id!: string;
  @ApiProperty({ enum: ['PENDING', 'PROCESSING', 'REQUIRES_ACTION', 'SUCCEEDED', 'FAILED'] }) readonly status!: string;
  @ApiProperty({ type: 'integer', description: 'Cents' }) readonly amount!: number;
  @ApiProperty({ example: 'usd' }) readonly currency!: string;
}

/** Consumers pay for their screening (docs/contract/platform.md#payments). */
@ApiTags('payments')
@ApiBearerAuth('platform-token')
@Controller('payments')
export class PaymentsController {
  constructor(private readonly commands: CommandBus) {}

  @Post('create-intent')
  @Limited({ by: ['paymentIntentsPerMinute', 'vendorShare'] })
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'createPaymentIntent',
    summary: 'Open the payment of a session, or continue the open one',
    description:
      'The secret of the reply is for the library of the payment processor in the browser. Nothing is charged yet.',
    body: CreateIntentBody,
    replies: { 200: IntentResult },
    errors: [
      'screening.not_found',
      'payment.session_not_payable',
      'payment.not_required',
      'payment.already_completed',
      'payment.report_not_available',
    ],
  })
  async createIntent(@Body() body: CreateIntentBody, @CurrentContext() context: RequestContext): Promise<IntentResult> {
    const wish = { amountCents: body.amount, applicationFeeCents: body.applicationFee ?? null };
    const { transactionId, clientSecret, amountCents, currency } = await this.commands.execute(
      new CreateIntent(body.screeningId, wish, context),
    );
    return { transaction_id: transactionId, client_secret: clientSecret, amount: amountCents, currency };
  }

  @Post(':transactionId/confirm')
  @Limited({ by: ['confirmsPerMinute', 'vendorShare'] })
  @Operation({
    id: 'confirmPayment',
    summary: "Fetch the payment's status from the processor; charges nothing",
    description: 'For a page that does not want to wait for the event of the processor.',
    replies: { 200: PaymentResult },
    errors: ['payment.not_found'],
  })
  async confirm(
    @Param('transactionId') transactionId: string,
    @CurrentContext() context: RequestContext,
  ): Promise<PaymentResult> {
    const { status, price, currency } = await this.commands.execute(new ConfirmPayment(transactionId, context));
    return { transaction_id: transactionId, status, amount: price.amountCents, currency };
  }
}

/** Gives every caller the same answer. */
@Injectable()
export class RetiredEndpoint extends Authenticator {
  override admit(): never {
    throw new DomainError('payment.endpoint_retired');
  }
}

/**
 * The former address of processor events. The reply says that the address is no longer used, with or without a token
 * (docs/contract/general.md#versioning).
 */
@ApiExcludeController()
@Controller('payments/webhook')
export class RetiredWebhookController {
  @Post()
  @Limited({ not: 'it answers every caller the same' })
  @RouteConfig({ authenticator: RetiredEndpoint })
  retired(): void {}
}
