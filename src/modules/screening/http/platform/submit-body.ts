// The body of POST /screening/submit (docs/contract/platform.md#submission).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsEmail, IsIn, IsOptional, IsString, Matches, MaxLength, MinLength, ValidateIf } from 'class-validator';
import { means, type CheckedBody, type FieldFault } from '../../../../platform/http/valid-body.js';
import type { Applicant } from '../../application/submit-screening.js';
import { US_STATES } from './us-states.js';

const nameRule = 'must be a name: letters, spaces, dots, hyphens and apostrophes, beginning with a letter';
const fingerprintRule = 'must have only letters, digits, spaces and the characters & . _ -';
const phoneRule = 'must have ten digits and not begin with 1';
const required = { message: 'is required and must be a string' };
const format = (message: string): ReturnType<typeof means> => means('screening.field_format', message);
const FINGERPRINT = /^[ a-zA-Z0-9&._-]*$/;
const NAME = /^[\p{L}\p{M}][\p{L}\p{M}' .\u2019-]*$/u;
const PLAIN_TEXT = /^[^\p{Cc}\p{Cs}]*$/u;
const DAY_MS = 86_400_000;

export class SubmitBody implements CheckedBody {
  @ApiProperty()
  @Matches(NAME, format(nameRule))
  @MaxLength(60, format('must have at most 60 characters'))
  @MinLength(1, required)
  @IsString(required)
  readonly firstName!: string;

  @ApiPropertyOptional()
  @IsOptional()
  @Matches(/^[\p{L}\p{M}][\p{L}\p{M}\p{Nd}' .\u2019-]*$/u, format(nameRule.replace('letters', 'letters, digits')))
  @MaxLength(60, format('must have at most 60 characters'))
  @IsString({ message: 'must be a string' })
  readonly middleName?: string;

  @ApiProperty()
  @Matches(NAME, format(nameRule))
  @MaxLength(60, format('must have at most 60 characters'))
  @MinLength(1, required)
  @IsString(required)
  readonly lastName!: string;

  @ApiProperty({ description: 'MMDDYYYY; an age from 18 to 120', example: '04121990' })
  @Matches(/^\d{8}$/, means('screening.birth_date_impossible', 'must be a real date as MMDDYYYY'))
  @MinLength(1, required)
  @IsString(required)
  readonly dateOfBirth!: string;

  @ApiPropertyOptional({ description: 'Nine digits; required for CONSUMER', example: '666123456' })
  @ValidateIf((body: SubmitBody) => body.ssn !== undefined && body.ssn !== '')
  @Matches(/^\d{9}$/, means('screening.ssn_malformed', 'must have nine digits'))
  @IsString({ message: 'must be a string' })
  readonly ssn?: string;

  @ApiProperty({ description: 'Ten digits after stripping all else, not beginning with 1', example: '(415) 555-0134' })
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
  // The rule for mail addresses cannot take half a character, which the one before it refuses.
  @IsOptional()
  @IsEmail({}, format('must be a mail address'))
  @Matches(PLAIN_TEXT, format('must be a mail address'))
  @IsString({ message: 'must be a string' })
  readonly email?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @Matches(PLAIN_TEXT, format('must have no control characters'))
  @MaxLength(120, format('must have at most 120 characters'))
  @IsString({ message: 'must be a string' })
  readonly companyName?: string;

  @ApiProperty()
  @Matches(PLAIN_TEXT, format('must have no control characters'))
  @MaxLength(120, format('must have at most 120 characters'))
  @Matches(/\S/, required)
  @IsString(required)
  readonly currentAddress!: string;

  @ApiProperty()
  @Matches(PLAIN_TEXT, format('must have no control characters'))
  @MaxLength(60, format('must have at most 60 characters'))
  @Matches(/\S/, required)
  @IsString(required)
  readonly currentCity!: string;

  @ApiProperty({ description: 'Two-letter code of a state or territory', example: 'CA' })
  @IsIn(US_STATES, format('must be a two-letter state code'))
  @MinLength(1, required)
  @IsString(required)
  readonly currentState!: string;

  @ApiProperty({ description: 'Five digits, or nine with or without a dash', example: '94105' })
  @Matches(/^\d{5}(-?\d{4})?$/, format('must have five digits, or nine with or without a dash'))
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
  @MaxLength(40, { message: 'must be an ISO 8601 time with a zone' })
  @MinLength(1, required)
  @IsString(required)
  readonly termsAcceptedAt!: string;

  @ApiProperty({ enum: ['CONSUMER', 'AGENT', 'PMC'] })
  @IsIn(['CONSUMER', 'AGENT', 'PMC'], { message: 'must be CONSUMER, AGENT or PMC' })
  @MinLength(1, required)
  @IsString(required)
  readonly userType!: Applicant['userType'];

  furtherFaults(now: Date, faulty: ReadonlySet<string>): readonly FieldFault[] {
    const faults: FieldFault[] = [];
    const check = (field: string, judge: () => Omit<FieldFault, 'field'> | null): void => {
      const fault = faulty.has(field) ? null : judge();
      if (fault) faults.push({ field, ...fault });
    };
    check('dateOfBirth', () => birthDateFault(this.dateOfBirth, now));
    check('ssn', () =>
      this.userType === 'CONSUMER' && !this.ssn
        ? { code: 'screening.ssn_missing', message: 'is required for a consumer' }
        : null,
    );
    check('phoneNumber', () =>
      /^[2-90]\d{9}$/.test(digitsOf(this.phoneNumber)) ? null : { code: 'screening.field_format', message: phoneRule },
    );
    check('termsAcceptedAt', () => termsFault(this.termsAcceptedAt, now));
    return faults;
  }
}

/** The applicant in the vendor port's words. */
export function applicantOf(body: SubmitBody): Applicant {
  return {
    userType: body.userType,
    firstName: body.firstName,
    lastName: body.lastName,
    ...(body.middleName ? { middleName: body.middleName } : {}),
    dateOfBirth: body.dateOfBirth,
    ...(body.ssn ? { ssn: body.ssn } : {}),
    phoneNumber: digitsOf(body.phoneNumber),
    phoneType: body.phoneType ?? 'C',
    ...(body.email ? { email: body.email } : {}),
    ...(body.companyName ? { companyName: body.companyName } : {}),
    address: { street: body.currentAddress, city: body.currentCity, state: body.currentState, zip: body.currentZip },
    jscPayload: body.jscPayload,
    ...(body.hdimPayload ? { hdimPayload: body.hdimPayload } : {}),
    termsAcceptedAt: new Date(body.termsAcceptedAt).toISOString(),
  };
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '');
}

/** Ages count by UTC date; 18 and 120 are inside (docs/contract/platform.md#submission). */
export function birthDateFault(text: string, now: Date): Omit<FieldFault, 'field'> | null {
  const [month, day, year] = [Number(text.slice(0, 2)), Number(text.slice(2, 4)), Number(text.slice(4))];
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCFullYear(year);
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  if (!real || date.getTime() >= today + DAY_MS)
    return { code: 'screening.birth_date_impossible', message: 'must be a real date as MMDDYYYY' };
  const hadBirthday = now.getUTCMonth() > month - 1 || (now.getUTCMonth() === month - 1 && now.getUTCDate() >= day);
  const age = now.getUTCFullYear() - year - (hadBirthday ? 0 : 1);
  if (age > 120) return { code: 'screening.birth_date_impossible', message: 'must not say more than 120 years' };
  return age < 18 ? { code: 'screening.minor', message: 'must say at least 18 years' } : null;
}

function termsFault(text: string, now: Date): Omit<FieldFault, 'field'> | null {
  const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/.test(text);
  const at = iso && isCalendarDate(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return { code: 'request.invalid', message: 'must be an ISO 8601 time with a zone' };
  return at > now.getTime() + 300_000
    ? { code: 'request.invalid', message: 'must not be more than five minutes ahead' }
    : null;
}

/** Of a text that begins with YYYY-MM-DD. The language's own parser lets some days pass that do not exist. */
function isCalendarDate(text: string): boolean {
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10))];
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
