// Requests and replies of a hosted checkout, in their wire form (docs/contract/direct.md#checkout).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import type { Environment } from '../../../../kernel/environment.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { IsMailAddress, Rule } from '../../../../platform/http/body-pipe.js';
import type { ReportFlags } from '../../../../published/checkouts.js';
import { NO_ERRORS } from '../../../../surfaces/direct/numeric-codes.js';
import {
  ADDRESS_RULES,
  type Address,
  addressShape,
  addressText,
  isAddress,
} from '../../../../surfaces/wire/address.js';
import type { OpenCheckout } from '../../application/open-checkout.js';
import { faultOfRedirect, MAX_REDIRECT } from './redirect-address.js';

const MAX_RENTER_ID = 128;
const MAX_TEXT = 255;
const MAX_MAIL_ADDRESS = 254;
const REPORT_FLAGS = ['excludeBackground', 'excludeHousingCourt'] as const;

const text = { message: 'must be a string' };
const notEmpty = { message: 'must not be empty' };
const atMost = (length: number): { readonly message: string } => ({
  message: `must have at most ${length} characters`,
});
const mailAddress = { message: 'must be a mail address' };

const REDIRECT_SHOWN = {
  format: 'uri-template',
  maxLength: MAX_REDIRECT,
  description: 'An https address; with a test key http too. `{CHECKOUT_SESSION_ID}` stands for the id of the session',
};
const NOTED = 'Noted at the payment processor';

export class CheckoutBody {
  @ApiProperty({ maxLength: MAX_RENTER_ID, description: "The integrator's id of a registered renter" })
  @Rule(isOfAnId, atMost(MAX_RENTER_ID))
  @MinLength(1, notEmpty)
  @IsString(text)
  readonly renterId!: string;

  @ApiProperty({ ...REDIRECT_SHOWN, example: 'https://app.example.com/paid?session={CHECKOUT_SESSION_ID}' })
  @IsString(text)
  readonly successUrl!: string;

  @ApiProperty({ ...REDIRECT_SHOWN, example: 'https://app.example.com/canceled' })
  @IsString(text)
  readonly cancelUrl!: string;

  @ApiPropertyOptional({
    ...addressShape('any'),
    description: 'Shown on the page',
  })
  @IsOptional()
  @Rule((value) => value === '' || isAddress(value, 'any'), { message: ADDRESS_RULES.any })
  readonly propertyAddress?: Address;

  @ApiPropertyOptional({ format: 'email' })
  @IsOptional()
  @MaxLength(MAX_MAIL_ADDRESS, atMost(MAX_MAIL_ADDRESS))
  @IsMailAddress(mailAddress)
  @IsString(text)
  readonly customerEmail?: string;

  @ApiPropertyOptional({ description: NOTED })
  @IsOptional()
  @MaxLength(MAX_TEXT, atMost(MAX_TEXT))
  @IsString(text)
  readonly customerUserIdTsp?: string;

  @ApiPropertyOptional({ description: NOTED })
  @IsOptional()
  @MaxLength(MAX_TEXT, atMost(MAX_TEXT))
  @IsString(text)
  readonly consumerIdTsp?: string;

  @ApiPropertyOptional({
    format: 'email',
    description: "Mail address of the payer, for the page's form. Default: the customer's",
  })
  @IsOptional()
  @MaxLength(MAX_MAIL_ADDRESS, atMost(MAX_MAIL_ADDRESS))
  @IsMailAddress(mailAddress)
  @IsString(text)
  readonly consumerEmail?: string;

  @ApiPropertyOptional({ description: NOTED })
  @IsOptional()
  @MaxLength(MAX_TEXT, atMost(MAX_TEXT))
  @IsString(text)
  readonly customerRoleTsp?: string;

  @ApiPropertyOptional({
    type: 'object',
    properties: Object.fromEntries(REPORT_FLAGS.map((flag) => [flag, { type: 'boolean' }])),
    additionalProperties: true,
    description: "Sections that the renter's report leaves out unless its reader asks for them",
  })
  @IsOptional()
  @Rule(isReportFlags, { message: `must be an object in which ${REPORT_FLAGS.join(' and ')} are true or false` })
  readonly reportFlags?: ReportFlags;
}

class CheckoutResult {
  @ApiProperty({ format: 'uri', description: 'Address where the renter pays' }) readonly url!: string;
  @ApiProperty({ description: 'The session at the payment processor, `cs_...`' }) readonly sessionId!: string;
  @ApiProperty({ format: 'date-time' }) readonly expiresAt!: string;
}

export class CheckoutReply {
  @ApiProperty(NO_ERRORS) readonly errors!: readonly never[];
  @ApiProperty({ type: CheckoutResult }) readonly payload!: CheckoutResult;
}

/** Throws if the renter may not be sent to a return address in the body. */
export function checkoutOf(body: CheckoutBody, environment: Environment): OpenCheckout['request'] {
  for (const field of ['successUrl', 'cancelUrl'] as const) {
    const message = faultOfRedirect(body[field], environment);
    if (message !== null) throw new DomainError('request.invalid', { field, details: [{ field, message }] });
  }
  const { renterId, successUrl, cancelUrl, reportFlags = {} } = body;
  const { excludeBackground, excludeHousingCourt } = reportFlags;
  const notes = {
    customer_user_id: body.customerUserIdTsp,
    customer_role: body.customerRoleTsp,
    consumer_id: body.consumerIdTsp,
  };
  return {
    renterId,
    wish: {
      successUrl,
      cancelUrl,
      description: body.propertyAddress ? addressText(body.propertyAddress) : null,
      email: body.consumerEmail ?? body.customerEmail ?? null,
      notes: Object.fromEntries(
        Object.entries(notes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      ),
    },
    fields: {
      email: body.consumerEmail === undefined ? 'customerEmail' : 'consumerEmail',
      successUrl: 'successUrl',
      cancelUrl: 'cancelUrl',
      description: 'propertyAddress',
      'notes.customer_user_id': 'customerUserIdTsp',
      'notes.customer_role': 'customerRoleTsp',
      'notes.consumer_id': 'consumerIdTsp',
    },
    reportFlags: {
      ...(excludeBackground !== undefined && { excludeBackground }),
      ...(excludeHousingCourt !== undefined && { excludeHousingCourt }),
    },
  };
}

/** Counts characters in the same way as every other check of an id. */
function isOfAnId(value: unknown): boolean {
  return typeof value === 'string' && Array.from(value).length <= MAX_RENTER_ID;
}

function isReportFlags(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return REPORT_FLAGS.every((flag) => [undefined, true, false].includes((value as Record<string, boolean>)[flag]));
}
