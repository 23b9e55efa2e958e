// The ports to the outside for operator commands, which never ask them. A running service calls vendors, prints, and sends webhooks and mails. The
// adapters of these ports are slow to load.
import { type Abstract, Global, Module } from '@nestjs/common';
import { ExternalCalls } from '../external-calls/external-calls.js';
import { CreditBureau } from '../ports/credit-bureau.js';
import { IdentityVendor } from '../ports/identity-vendor.js';
import { IncomeVendor } from '../ports/income-vendor.js';
import { MailSender } from '../ports/mail-sender.js';
import { PaymentProcessor } from '../ports/payment-processor.js';
import { PdfRenderer } from '../ports/pdf-renderer.js';
import { WebhookAddressRules, WebhookSender } from '../ports/webhook-sender.js';

const PORTS: readonly Abstract<unknown>[] = [
  ExternalCalls,
  IdentityVendor,
  CreditBureau,
  IncomeVendor,
  PaymentProcessor,
  PdfRenderer,
  WebhookSender,
  WebhookAddressRules,
  MailSender,
];

@Global()
@Module({ providers: PORTS.map((provide) => ({ provide, useValue: {} })), exports: [...PORTS] })
export class NotAskedModule {}
