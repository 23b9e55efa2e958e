// ops payments list | refund
import { CommandBus } from '@nestjs/cqrs';
import { Command, Option, SubCommand } from 'nest-commander';
import { REFUND_REASONS } from '../kernel/refund-reason.js';
import { DomainError } from '../kernel/domain-error.js';
import type { ErrorCode } from '../kernel/error-codes.js';
import { RefundAsOperator } from '../modules/payments/application/refund-as-operator.js';
import type { PaymentStatus } from '../modules/payments/domain/payment.js';
import { openPayments } from '../modules/payments/read/open-payments.js';
import { PAYMENT_STATUSES, PaymentLists, transactionOf } from '../modules/payments/read/payment-lists.js';
import { CommandGroup } from './command-group.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { ListingCommand, type ListingValues, listPart, tellNext } from './listing.js';
import { idIn, oneOf, WrongInput } from './operator.js';
import { OperatorLists } from './operator-lists.js';
import { print, printNone, printRow } from './output.js';

const REFUSALS: Partial<Record<ErrorCode, string>> = {
  'payment.not_found': 'The payment does not exist. The id of a payment begins with txn_ or chk_.',
  'payment.not_completed': 'The payment has not succeeded, so it cannot be refunded.',
  'payment.report_under_way': 'The report is being pulled now. Run this command again when the pull has ended.',
  'payment.report_released': 'The report was released. The refund needs --reason <text>.',
};

@SubCommand({
  name: 'refund',
  arguments: '<transaction>',
  description: `Refund a whole payment; the account sees the reasons ${REFUND_REASONS.join(', ')}, and any other reason as other`,
})
export class RefundPaymentCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
  ) {
    super();
  }

  /** The command only records the request. A running service asks the processor within seconds. */
  override async run([transactionId = '']: string[], values: ConsentValues = {}): Promise<void> {
    const context = await this.consent.given(values, `refund the payment ${transactionId}`);
    const reasonCode = REFUND_REASONS.find((reason) => reason === values.reason) ?? 'other';
    const evenIfReleased = values.reason !== undefined;
    try {
      const refunded = await this.commands.execute(
        new RefundAsOperator(transactionId, { reasonCode, evenIfReleased }, context),
      );
      print({
        transaction: transactionId,
        session: refunded.sessionId,
        refund: refunded.status === 'REFUNDED' ? 'made' : 'requested',
        reasonCode: refunded.reasonCode,
      });
    } catch (error) {
      const sentence = error instanceof DomainError ? REFUSALS[error.code] : undefined;
      throw sentence === undefined ? error : new WrongInput(sentence);
    }
  }
}

interface PaymentsValues extends ListingValues {
  readonly status?: PaymentStatus;
  readonly session?: string;
}

@SubCommand({ name: 'list', description: 'List payments, the newest first, of one account or of all' })
export class ListPaymentsCommand extends ListingCommand {
  constructor(
    private readonly lists: OperatorLists,
    private readonly payments: PaymentLists,
  ) {
    super();
  }

  @Option({ flags: '--status <status>', description: PAYMENT_STATUSES.join(', ') })
  readStatus(text: string): PaymentStatus {
    return oneOf(text, PAYMENT_STATUSES, '--status');
  }

  @Option({ flags: '--session <session>', description: 'only of this screening session, with --account' })
  readSession(text: string): string {
    return idIn(text, 'session');
  }

  override async run(_: string[], values: PaymentsValues = {}): Promise<void> {
    const { account, session, environment, status } = values;
    if (account === undefined && session !== undefined) throw new WrongInput('Give --account with --session.');
    const filter = { environment, status, of: account === undefined ? undefined : { account, session } };
    const { items, next, total } = await this.lists.complete(openPayments, () =>
      this.payments.page(filter, listPart(values)),
    );
    for (const view of items) {
      const { reference: _reference, ...payment } = view.doc;
      const { status: state, amountCents, currency, refundedCents, sessionId, accountId, createdAt } = payment;
      const transaction = transactionOf(view);
      printRow(
        { transaction, ...payment },
        { transaction, status: state, amountCents, currency, refundedCents, sessionId, accountId, createdAt },
      );
    }
    if (items.length === 0) printNone('payments');
    tellNext(next, total);
  }
}

@Command({
  name: 'payments',
  description: 'Payments of consumers',
  subCommands: [ListPaymentsCommand, RefundPaymentCommand],
})
export class PaymentsCommand extends CommandGroup {}
