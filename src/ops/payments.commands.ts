// ops payments refund
import { CommandBus } from '@nestjs/cqrs';
import { Command, SubCommand } from 'nest-commander';
import { REFUND_REASONS } from '../kernel/refund-reason.js';
import { DomainError } from '../kernel/domain-error.js';
import type { ErrorCode } from '../kernel/error-codes.js';
import { RefundAsOperator } from '../modules/payments/application/refund-as-operator.js';
import { CommandGroup } from './command-group.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { print, WrongInput } from './operator.js';

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

@Command({ name: 'payments', description: 'Payments of consumers', subCommands: [RefundPaymentCommand] })
export class PaymentsCommand extends CommandGroup {}
