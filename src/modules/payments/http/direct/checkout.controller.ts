import { Body, Controller, Header, HttpCode, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiOkResponse, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { LARGE_BODY_BYTES } from '../../../../platform/http/json-limits.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { paymentSuccess } from '../../../../surfaces/direct/envelope.js';
import { ApiRefusals } from '../../../../surfaces/direct/refusals.js';
import { OpenCheckout } from '../../application/open-checkout.js';
import { CheckoutBody, checkoutOf, CheckoutReply } from './checkout-bodies.js';

/** Renters pay for their screening on a page of the payment processor (docs/contract/direct.md#checkout). */
@ApiTags('checkout')
@ApiSecurity('api-key')
@ApiRefusals(409, 413, 423, 504)
@Controller('api/pay/payment')
export class CheckoutController {
  constructor(private readonly commands: CommandBus) {}

  @Post('checkout-session')
  @Limited({ by: ['vendorShare'] })
  @HttpCode(200)
  @RouteConfig({ bodyLimit: LARGE_BODY_BYTES })
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Send a renter to a page to pay. It replaces an open unpaid session' })
  @ApiBody({ type: CheckoutBody })
  @ApiOkResponse({ type: CheckoutReply })
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
