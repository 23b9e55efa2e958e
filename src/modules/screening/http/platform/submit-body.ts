// The body of POST /screening/submit (docs/contract/platform.md#submission).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Matches, MaxLength, MinLength, ValidateIf } from 'class-validator';
import { END_USER_TYPES, type EndUserType } from '../../../../kernel/end-user-type.js';
import { PERMISSIBLE_PURPOSES, type PermissiblePurpose } from '../../../../kernel/permissible-purpose.js';
import { USER_TYPES } from '../../../../published/accounts.js';
import { folded, HAS_VISIBLE, phoneDigits, stateCode, zipCode } from '../../../../published/folded-text.js';
import { type Language, TERMS_VERSION } from '../../../../kernel/terms.js';
import { IsMailAddress, means, Rule } from '../../../../platform/http/body-pipe.js';
import { ADDRESS_RULES, type Address, addressShape, isAddress, onlyParts } from '../../../../surfaces/wire/address.js';
import type { Applicant } from '../../../../kernel/applicant.js';
import type { SaidByPage } from '../../application/submission.js';
import { US_STATES } from './us-states.js';

const nameRule =
  'must be a name: letters, spaces, apostrophes, hyphens, dots, commas and middle dots; digits only behind the first word';
const middleNameRule = nameRule.replace('digits only behind the first word', 'digits behind the first letter');
const fingerprintRule = 'must have only letters, digits, spaces and the characters & . _ -';
const phoneRule = 'must have ten digits, with spaces and ( ) - . / between them at most, and not begin with 1 or 00';
const zipRule = 'must have five digits, or nine with or without a dash';
const timeRule = { message: 'must be an ISO 8601 time with a zone' };
const required = { message: 'is required and must be a string' };
const format = (message: string): ReturnType<typeof means> => means('screening.field_format', message);
const impossible = (message: string): ReturnType<typeof means> => means('screening.birth_date_impossible', message);
const FINGERPRINT = /^[ a-zA-Z0-9&._-]*$/;
/** The characters other than letters in a simplified name. The maqaf is a hyphen, and the other joining characters belong to their letters. */
const BETWEEN = "'.,\\-\u00b7\u2027\u30fb\u05be\u200c\u200d";
const IN_NAME = `\\p{L}\\p{Mn}\\p{Mc}${BETWEEN}`;
const NAME = new RegExp(`^[${IN_NAME}]+(?: [${IN_NAME} \\p{Nd}]*)?$`, 'u');
const MIDDLE_NAME = new RegExp(`^[${IN_NAME}][${IN_NAME} \\p{Nd}]*$`, 'u');
const HAS_LETTER = /(?!\p{DI})\p{L}/u;
const PLAIN_TEXT = /^[^\p{Cc}\p{Cs}]*$/u;
/** Ten digits with what people write between them. */
const PHONE = '^[ ()./-]*(?!1|0[ ()./-]*0)(?:\\d[ ()./-]*){10}$';
const SSN = /^\d{9}$/;
const ZIP = /^\d{5}(-?\d{4})?$/;
const AHEAD_MS = 300_000;

/** A text is checked in the simplified form in which it is sent. `form` is for documents. */
const Folded = (
  holds: (text: string) => boolean,
  options: ReturnType<typeof means>,
  form: object = {},
): PropertyDecorator => Rule((text: string) => holds(folded(text)), options, form);
const IsName = (pattern: RegExp, rule: string): PropertyDecorator =>
  Folded((name) => pattern.test(name) && HAS_LETTER.test(name), format(rule), { pattern: pattern.source });
const AtMost = (maxLength: number): PropertyDecorator =>
  Folded((text) => Array.from(text).length <= maxLength, format(`must have at most ${maxLength} characters`), {
    maxLength,
  });
const IsPlainText = (): PropertyDecorator =>
  Folded((text) => PLAIN_TEXT.test(text), format('must have no control characters'), {
    pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$',
  });
const IsVisible = (options: ReturnType<typeof means>): PropertyDecorator =>
  Folded((text) => HAS_VISIBLE.test(text), options, { minLength: 1 });

export class SubmitBody {
  @ApiProperty()
  @IsName(NAME, nameRule)
  @AtMost(60)
  @MinLength(1, required)
  @IsString(required)
  readonly firstName!: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsName(MIDDLE_NAME, middleNameRule)
  @AtMost(60)
  @IsString({ message: 'must be a string' })
  readonly middleName?: string;

  @ApiProperty()
  @IsName(NAME, nameRule)
  @AtMost(60)
  @MinLength(1, required)
  @IsString(required)
  readonly lastName!: string;

  @ApiProperty({ description: 'MMDDYYYY; an age from 18 to 120', example: '04121990' })
  @Rule((text: string, _, now) => ageOf(text, now) >= 18, means('screening.minor', 'must say at least 18 years'))
  @Rule((text: string, _, now) => ageOf(text, now) <= 120, impossible('must not say more than 120 years'))
  @Rule((text: string, _, now) => ageOf(text, now) >= 0, impossible('must be a real date as MMDDYYYY'))
  @Matches(/^\d{8}$/, impossible('must be a real date as MMDDYYYY'))
  @MinLength(1, required)
  @IsString(required)
  readonly dateOfBirth!: string;

  @ApiPropertyOptional({ description: 'Nine digits; required for CONSUMER', example: '666123456' })
  @ValidateIf(({ ssn, userType }: SubmitBody) => userType === 'CONSUMER' || !isBlank(ssn))
  @Folded((ssn) => SSN.test(ssn), means('screening.ssn_malformed', 'must have nine digits'), { pattern: SSN.source })
  @IsString({ message: 'must be a string' })
  @Rule((ssn) => !isBlank(ssn), means('screening.ssn_missing', 'is required for a consumer'))
  readonly ssn?: string;

  @ApiProperty({
    description: 'Ten digits, not beginning with 1 or 00; spaces and `( ) - . /` are stripped',
    example: '(415) 555-0134',
  })
  @Rule((text: string) => /^(?!1|00)\d{10}$/.test(phoneDigits(text)), format(phoneRule), { pattern: PHONE })
  @MaxLength(40, format(phoneRule))
  @MinLength(1, required)
  @IsString(required)
  readonly phoneNumber!: string;

  @ApiPropertyOptional({ enum: ['C', 'H', 'W'], default: 'C' })
  @IsOptional()
  @IsIn(['C', 'H', 'W'], format('must be C, H or W'))
  @IsString({ message: 'must be a string' })
  readonly phoneType?: 'C' | 'H' | 'W';

  @ApiPropertyOptional()
  @IsOptional()
  @IsMailAddress(format('must be a mail address'))
  @IsString({ message: 'must be a string' })
  readonly email?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsPlainText()
  @AtMost(120)
  @IsVisible(format('must have a visible character'))
  @IsString({ message: 'must be a string' })
  readonly companyName?: string;

  @ApiProperty()
  @IsPlainText()
  @AtMost(120)
  @IsVisible(required)
  @IsString(required)
  readonly currentAddress!: string;

  @ApiProperty()
  @IsPlainText()
  @AtMost(60)
  @IsVisible(required)
  @IsString(required)
  readonly currentCity!: string;

  @ApiProperty({ description: 'Two-letter code of a state or territory, in either case', example: 'CA' })
  @Rule((text: string) => US_STATES.includes(stateCode(text)), format('must be a two-letter state code'), {
    enum: US_STATES,
  })
  @MinLength(1, required)
  @IsString(required)
  readonly currentState!: string;

  @ApiProperty({ description: 'Five digits, or nine with a dash, a space or nothing between', example: '94105' })
  @Rule((text: string) => ZIP.test(zipCode(text)), format(zipRule), { pattern: ZIP.source })
  @MinLength(1, required)
  @IsString(required)
  readonly currentZip!: string;

  @ApiProperty({ description: 'Device fingerprint, at most 4,000 characters', example: 'fp-demo' })
  @Matches(FINGERPRINT, format(fingerprintRule))
  @MaxLength(4_000, format('must have at most 4000 characters'))
  @MinLength(1, required)
  @IsString(required)
  readonly jscPayload!: string;

  @ApiPropertyOptional({ description: 'Device fingerprint, at most 4,000 characters' })
  @IsOptional()
  @Matches(FINGERPRINT, format(fingerprintRule))
  @MaxLength(4_000, format('must have at most 4000 characters'))
  @IsString({ message: 'must be a string' })
  readonly hdimPayload?: string;

  @ApiProperty({ description: 'ISO 8601 with a time zone', example: '2026-01-31T12:00:00Z' })
  @Rule((text: string, _, now) => Date.parse(text) <= now.getTime() + AHEAD_MS, {
    message: 'must not be more than five minutes ahead',
  })
  @Rule(isTime, timeRule, { format: 'date-time' })
  @MaxLength(40, timeRule)
  @MinLength(1, required)
  @IsString(required)
  readonly termsAcceptedAt!: string;

  @ApiProperty({ enum: USER_TYPES })
  @IsIn(USER_TYPES, { message: 'must be CONSUMER, AGENT or PMC' })
  @MinLength(1, required)
  @IsString(required)
  readonly userType!: Applicant['userType'];

  @ApiPropertyOptional({ ...addressShape('all'), description: 'The home that the screening is for' })
  @IsOptional()
  @Rule((value) => value === '' || isAddress(value, 'all'), { message: ADDRESS_RULES.all })
  readonly unitAddress?: Address;

  @ApiPropertyOptional({ enum: END_USER_TYPES, description: 'If the session grant names one, this must be the same' })
  @IsOptional()
  @IsIn(END_USER_TYPES, { message: `must be one of ${END_USER_TYPES.join(', ')}` })
  @IsString({ message: 'must be a string' })
  readonly endUserType?: EndUserType;

  @ApiPropertyOptional({
    enum: PERMISSIBLE_PURPOSES,
    description: 'Purpose of every read of the report. If the session grant names one, this must be the same',
  })
  @IsOptional()
  @IsIn(PERMISSIBLE_PURPOSES, { message: `must be one of ${PERMISSIBLE_PURPOSES.join(', ')}` })
  @IsString({ message: 'must be a string' })
  readonly purpose?: PermissiblePurpose;

  @ApiPropertyOptional({ type: 'integer', description: 'One of the products that the options list' })
  @IsOptional()
  @IsInt({ message: 'must be an integer' })
  readonly productId?: number;

  @ApiPropertyOptional({
    description: 'Version of the text that the person agreed to: 1 to 40 letters, digits, `.`, `-`, `_`',
  })
  @IsOptional()
  @Matches(TERMS_VERSION, { message: 'must have 1 to 40 letters, digits, dots, dashes and underscores' })
  @IsString({ message: 'must be a string' })
  readonly termsVersion?: string;

  @ApiPropertyOptional({ enum: ['en', 'es'], description: 'Language of that text, as in the options' })
  @IsOptional()
  @IsIn(['en', 'es'], { message: 'must be en or es' })
  @IsString({ message: 'must be a string' })
  readonly termsLanguage?: Language;
}

/** The applicant in the terms of the vendor port. */
export function applicantOf(body: SubmitBody): Applicant {
  return {
    userType: body.userType,
    firstName: body.firstName,
    lastName: body.lastName,
    ...(body.middleName ? { middleName: body.middleName } : {}),
    dateOfBirth: body.dateOfBirth,
    ...(body.ssn ? { ssn: folded(body.ssn) } : {}),
    phoneNumber: phoneDigits(body.phoneNumber),
    phoneType: body.phoneType ?? 'C',
    ...(body.email ? { email: body.email } : {}),
    ...(body.companyName ? { companyName: body.companyName } : {}),
    address: { street: body.currentAddress, city: body.currentCity, state: body.currentState, zip: body.currentZip },
    jscPayload: body.jscPayload,
    ...(body.hdimPayload ? { hdimPayload: body.hdimPayload } : {}),
    ...(body.productId !== undefined && { productId: body.productId }),
    termsAcceptedAt: new Date(body.termsAcceptedAt).toISOString(),
  };
}

/** The facts in the body other than the applicant's details. */
export function saidIn({ unitAddress, endUserType, purpose, termsVersion, termsLanguage }: SubmitBody): SaidByPage {
  return {
    // Only documented parts are kept.
    ...(unitAddress !== undefined && unitAddress !== '' && { unitAddress: onlyParts(unitAddress) }),
    ...(endUserType !== undefined && { endUserType }),
    ...(purpose !== undefined && { purpose }),
    ...(termsVersion !== undefined && { termsVersion }),
    ...(termsLanguage !== undefined && { termsLanguage }),
  };
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text === '';
}

/** The age in whole years by the UTC date; negative for an impossible or future date (docs/contract/platform.md#submission). */
export function ageOf(mmddyyyy: string, now: Date): number {
  const [month, day, year] = [Number(mmddyyyy.slice(0, 2)), Number(mmddyyyy.slice(2, 4)), Number(mmddyyyy.slice(4))];
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCFullYear(year);
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!real || date > now) return -1;
  const hadBirthday = now.getUTCMonth() > month - 1 || (now.getUTCMonth() === month - 1 && now.getUTCDate() >= day);
  return now.getUTCFullYear() - year - (hadBirthday ? 0 : 1);
}

function isTime(text: string): boolean {
  const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/.test(text);
  return iso && isCalendarDate(text) && !Number.isNaN(Date.parse(text));
}

/** Checks a text that begins with YYYY-MM-DD. `Date.parse` accepts some days that do not exist. */
function isCalendarDate(text: string): boolean {
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10))];
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
