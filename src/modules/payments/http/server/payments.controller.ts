import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentPrincipal, type Principal } from '../../../../platform/http/principal.js';
import { AccountLists } from '../../../../published/account-lists.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { askedPage } from '../../../../surfaces/server/list-query.js';
import { PaymentLists } from '../../read/payment-lists.js';
import { listedPayment, PaymentListResult, PaymentsQuery } from './payment-list.js';

/** Payments of the account and its direct children, for servers with a secret key (docs/contract/server.md#lists). */
@ApiTags('payments')
@ApiSecurity('secret-key')
@Controller('v1/payments')
export class ServerPaymentsController {
  constructor(
    private readonly payments: PaymentLists,
    private readonly lists: AccountLists,
  ) {}

  @Get()
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'listPayments',
    summary: 'List the payments of the account or of a direct child, the newest first',
    description: 'Payments of screenings, and those made at hosted checkouts. `next_cursor` leads to the next page.',
    query: PaymentsQuery,
    replies: { 200: PaymentListResult },
    errors: ['request.not_found'],
  })
  list(@Query() query: PaymentsQuery, @CurrentPrincipal() principal: Principal): Promise<PaymentListResult> {
    const { status, session_id: session } = query;
    return this.lists.page(
      askedPage(query, principal, 'payments'),
      ({ owner: { account, environment }, part }) =>
        this.payments.page({ environment, status, of: { account, session } }, part),
      listedPayment,
    );
  }
}
