// The wire form of the options of a page (docs/contract/platform.md#options).
import { ApiProperty } from '@nestjs/swagger';
import { END_USER_TYPES, type EndUserType } from '../../../../kernel/end-user-type.js';
import { ENVIRONMENTS, type Environment } from '../../../../kernel/environment.js';
import { logoUrl, USER_TYPES, type UserType } from '../../../../published/accounts.js';
import type { ScreeningOptions } from '../../read/screening-options.js';

class PriceResult {
  @ApiProperty({ type: 'integer', description: 'In the smallest unit of the currency, such as cents' })
  readonly amount!: number;
  @ApiProperty({ description: 'Lowercase ISO 4217', example: 'usd' }) readonly currency!: string;
  @ApiProperty({
    type: 'integer',
    description: 'Divide the amount by ten to this power for the number that people read',
    example: 2,
  })
  readonly exponent!: number;
}

class FeeResult {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Cents; null: not fixed. When it is given, the fee from a page does not count',
  })
  readonly fixed!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Cents; null when a consumer pays nothing' })
  readonly max!: number | null;
}

class GrantOptionsResult {
  @ApiProperty({ type: String, enum: USER_TYPES, nullable: true }) readonly userType!: UserType | null;
  @ApiProperty({ type: String, enum: END_USER_TYPES, nullable: true }) readonly endUserType!: EndUserType | null;
  @ApiProperty({
    description: 'True when the grant names an end user type that is not in the list above. Such a grant binds none',
  })
  readonly otherEndUserType!: boolean;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Cents' }) readonly applicationFee!: number | null;
}

class BrandResult {
  @ApiProperty({ description: 'Name that people see' }) readonly displayName!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'A PNG or an SVG as a data: URL. Show it as an image only',
  })
  readonly logo!: string | null;
  @ApiProperty({ type: String, nullable: true, description: "The https address of the account's privacy notice" })
  readonly privacyUrl!: string | null;
}

class TermsResult {
  @ApiProperty({ description: 'Send it as termsVersion with the submission' }) readonly version!: string;
  @ApiProperty({ enum: ['en', 'es'] }) readonly language!: 'en' | 'es';
  @ApiProperty({ type: [String], description: 'Plain text' }) readonly paragraphs!: readonly string[];
}

export class OptionsResult {
  @ApiProperty({ enum: ENVIRONMENTS }) readonly environment!: Environment;
  @ApiProperty({ enum: USER_TYPES, isArray: true }) readonly userTypes!: readonly UserType[];
  @ApiProperty({ type: 'integer', isArray: true, description: 'Products that a submission may name' })
  readonly productIds!: readonly number[];
  @ApiProperty({
    type: PriceResult,
    nullable: true,
    description: 'The price for a consumer; null: a consumer pays nothing',
  })
  readonly price!: PriceResult | null;
  @ApiProperty({ type: FeeResult, description: 'The part of the price that the platform keeps' })
  readonly applicationFee!: FeeResult;
  @ApiProperty({
    type: GrantOptionsResult,
    nullable: true,
    description: 'The choices that the session grant of the token binds',
  })
  readonly grant!: GrantOptionsResult | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Contact of the account for help: a mail address, a phone number or an http or https address',
  })
  readonly support!: string | null;
  @ApiProperty({ type: BrandResult }) readonly brand!: BrandResult;
  @ApiProperty({ type: TermsResult }) readonly terms!: TermsResult;
  @ApiProperty({ type: 'integer', description: 'Seconds between two codes', example: 30 })
  readonly otpResendInterval!: number;
}

export function optionsResult(
  { userTypes, productIds, price, applicationFee, grant, supportContact, brand, terms }: ScreeningOptions,
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
    brand: { ...brand, logo: brand.logo && logoUrl(brand.logo) },
    terms,
    otpResendInterval,
  };
}
