import { Body, Controller, Header, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { LARGE_BODY_BYTES } from '../../../../platform/http/json-limits.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { paymentSuccess } from '../../../../surfaces/direct/envelope.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { OpenCheckout } from '../../application/open-checkout.js';
import { CheckoutBody, checkoutOf, CheckoutReply } from './checkout-bodies.js';

/** Renters pay for their screening on a page of the payment processor (docs/contract/direct.md#checkout). */
@ApiTags('checkout')
@ApiSecurity('api-key')
@Controller('api/pay/payment')
export class CheckoutController {
  constructor(private readonly commands: CommandBus) {}

  @Post('checkout-session')
  @Limited({ by: ['vendorShare'] })
  @RouteConfig({ bodyLimit: LARGE_BODY_BYTES })
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'openCheckout',
    summary: 'Send a renter to a page to pay. It replaces an open unpaid session',
    description: 'The page belongs to the payment processor and is open for a time. A webhook tells of the payment.',
    body: CheckoutBody,
    replies: { 200: CheckoutReply },
    errors: [
      'checkout.renter_unknown',
      'checkout.already_paid',
      'checkout.misconfigured',
      'payment.not_required',
      'payment.session_not_payable',
      'payment.report_not_available',
      'account.not_live',
      'party.locked',
    ],
  })
  async open(
    @Body() body: CheckoutBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
  ): Promise<CheckoutReply> {
    const { url, checkoutSessionId, expiresAt, subjectId } = await this.commands.execute(
      new OpenCheckout(checkoutOf(body, context.environment), context, request.idempotencyScope),
    );
    // The address reveals the purpose of the payment, and any visitor who has it can pay. The reply therefore belongs to the renter's vault subject.
    request.dataSubject = subjectId;
    return paymentSuccess({ url, sessionId: checkoutSessionId, expiresAt });
  }
}
