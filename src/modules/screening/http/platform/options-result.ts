// What a page may do, as the platform API tells it (docs/contract/platform.md#options).
import { ApiProperty } from '@nestjs/swagger';
import { END_USER_TYPES, type EndUserType } from '../../../../kernel/end-user-type.js';
import type { Environment } from '../../../../kernel/environment.js';
import type { ScreeningOptions } from '../../read/screening-options.js';

const USER_TYPES = ['CONSUMER', 'AGENT', 'PMC'] as const;
type UserType = (typeof USER_TYPES)[number];

class PriceResult {
  @ApiProperty({ type: 'integer', description: 'In the smallest unit of the currency, such as cents' })
  readonly amount!: number;
  @ApiProperty({ description: 'Lowercase ISO 4217', example: 'usd' }) readonly currency!: string;
  @ApiProperty({
    type: 'integer',
    description: 'The amount divided by ten to this power is what people read',
    example: 2,
  })
  readonly exponent!: number;
}

class FeeResult {
  @ApiProperty({ type: 'integer', nullable: true, description: 'Cents; what a page says does not count then' })
  readonly fixed!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Cents; null where a consumer pays nothing' })
  readonly max!: number | null;
}

class GrantOptionsResult {
  @ApiProperty({ type: String, enum: USER_TYPES, nullable: true }) readonly userType!: UserType | null;
  @ApiProperty({ type: String, enum: END_USER_TYPES, nullable: true }) readonly endUserType!: EndUserType | null;
  @ApiProperty({ description: 'The grant says an end user type that is none of these, and binds none' })
  readonly otherEndUserType!: boolean;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Cents' }) readonly applicationFee!: number | null;
}

class TermsResult {
  @ApiProperty({ description: 'To be sent as termsVersion with the submission' }) readonly version!: string;
  @ApiProperty({ enum: ['en', 'es'] }) readonly language!: 'en' | 'es';
  @ApiProperty({ type: [String], description: 'Plain text' }) readonly paragraphs!: readonly string[];
}

export class OptionsResult {
  @ApiProperty({ enum: ['live', 'test'] }) readonly environment!: Environment;
  @ApiProperty({ enum: USER_TYPES, isArray: true }) readonly userTypes!: readonly UserType[];
  @ApiProperty({ type: 'integer', isArray: true, description: 'Products that a submission may name' })
  readonly productIds!: readonly number[];
  @ApiProperty({ type: PriceResult, nullable: true, description: 'What a consumer pays; null: nothing' })
  readonly price!: PriceResult | null;
  @ApiProperty({ type: FeeResult, description: 'What the platform keeps of the price' })
  readonly applicationFee!: FeeResult;
  @ApiProperty({ type: GrantOptionsResult, nullable: true, description: 'What the session grant of the token binds' })
  readonly grant!: GrantOptionsResult | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Where a person asks the account for help: a mail address, a phone number or an http or https address',
  })
  readonly support!: string | null;
  @ApiProperty({ type: TermsResult }) readonly terms!: TermsResult;
  @ApiProperty({ type: 'integer', description: 'Seconds between two codes', example: 30 })
  readonly otpResendInterval!: number;
}

export function optionsResult(
  { userTypes, productIds, price, applicationFee, grant, supportContact, terms }: ScreeningOptions,
  environment: Environment,
  otpResendInterval: number,
): OptionsResult {
  return {
    environment,
    userTypes,
    productIds,
    price: price && { amount: price.amountCents, currency: price.currency, exponent: price.exponent },
    applicationFee: { fixed: applicationFee.fixedCents, max: applicationFee.mostCents },
    grant: grant && {
      userType: grant.userType,
      endUserType: grant.endUserType === 'OTHER' ? null : grant.endUserType,
      otherEndUserType: grant.endUserType === 'OTHER',
      applicationFee: grant.applicationFeeCents,
    },
    support: supportContact,
    terms,
    otpResendInterval,
  };
}
