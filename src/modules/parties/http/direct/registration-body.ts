// The request bodies of registration and re-authentication (docs/contract/direct.md#parties). The form of the device's fingerprint is
// checked. The vendor judges all other fields, so that only their JSON type is checked here.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import type { Applicant, Device } from '../../../../kernel/applicant.js';

const text = { message: 'must be a string' };
const fingerprint = {
  maxLength: 4_000,
  pattern: '^[ a-zA-Z0-9&._-]*$',
  description: "As the device's fingerprint collector gave it",
};
const fingerprintForm = { message: 'must have only letters, digits, spaces and the characters & . _ -' };
const fingerprintLength = { message: `must have at most ${fingerprint.maxLength} characters` };
const FINGERPRINT = new RegExp(fingerprint.pattern);

export class DeviceBody {
  @ApiProperty(fingerprint)
  @Matches(FINGERPRINT, fingerprintForm)
  @MaxLength(fingerprint.maxLength, fingerprintLength)
  @Matches(/./, { message: 'is required' })
  @IsString({ message: 'is required and must be a string' })
  readonly jscPayload!: string;

  @ApiPropertyOptional(fingerprint)
  @IsOptional()
  @Matches(FINGERPRINT, fingerprintForm)
  @MaxLength(fingerprint.maxLength, fingerprintLength)
  @IsString(text)
  readonly hdimPayload?: string;

  @ApiPropertyOptional({ description: "The person's address, as your server saw it; expected" })
  @IsOptional()
  @IsString(text)
  readonly ipAddress?: string;

  @ApiPropertyOptional({ description: 'Expected' })
  @IsOptional()
  @IsString(text)
  readonly currentAddress?: string;

  @ApiPropertyOptional({ description: 'Expected' })
  @IsOptional()
  @IsString(text)
  readonly currentCity?: string;

  @ApiPropertyOptional({ description: 'Expected; two letters' })
  @IsOptional()
  @IsString(text)
  readonly currentState?: string;

  @ApiPropertyOptional({ description: 'Expected; five digits' })
  @IsOptional()
  @IsString(text)
  readonly currentZip?: string;
}

export class RegistrationBody extends DeviceBody {
  @ApiPropertyOptional({ description: 'Expected' })
  @IsOptional()
  @IsString(text)
  readonly firstName?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsString(text)
  readonly middleName?: string;

  @ApiPropertyOptional({ description: 'Expected' })
  @IsOptional()
  @IsString(text)
  readonly lastName?: string;

  @ApiPropertyOptional({ description: 'Nine digits', example: '666123456' })
  @IsOptional()
  @IsString(text)
  readonly ssn?: string;

  @ApiPropertyOptional({ description: 'MMDDYYYY', example: '04121990' })
  @IsOptional()
  @IsString(text)
  readonly dob?: string;

  @ApiPropertyOptional({ example: '4155550134' })
  @IsOptional()
  @IsString(text)
  readonly phoneNumber?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsString(text)
  readonly email?: string;

  @ApiPropertyOptional({ description: "Only for organizations, beside the contact person's data" })
  @IsOptional()
  @IsString(text)
  readonly companyName?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsString(text)
  readonly mothersMaidenName?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsString(text)
  readonly spouseName?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsString(text)
  readonly propertyZip?: string;

  @ApiPropertyOptional({ type: 'integer', description: 'Only for organizations' })
  @IsOptional()
  @IsInt({ message: 'must be an integer' })
  readonly productId?: number;
}

export function deviceOf({
  jscPayload,
  hdimPayload,
  ipAddress,
  currentAddress,
  currentCity,
  currentState,
  currentZip,
}: DeviceBody): Device {
  const address = given({ street: currentAddress, city: currentCity, state: currentState, zip: currentZip });
  return {
    jscPayload,
    ...given({ hdimPayload, ipAddress }),
    ...(Object.keys(address).length > 0 && { address }),
  };
}

export function applicantOf(userType: Applicant['userType'], body: RegistrationBody): Applicant {
  const { firstName, middleName, lastName, ssn, dob, phoneNumber, email, companyName } = body;
  const { mothersMaidenName, spouseName, propertyZip, productId } = body;
  return {
    userType,
    ...deviceOf(body),
    ...given({ firstName, middleName, lastName, ssn, phoneNumber, email, companyName }),
    ...given({ dateOfBirth: dob, mothersMaidenName, spouseName, propertyZip }),
    ...(productId !== undefined && { productId }),
  };
}

function given<Names extends string>(
  fields: Readonly<Record<Names, string | undefined>>,
): Partial<Record<Names, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<
    Record<Names, string>
  >;
}
