// The request bodies of registration and re-authentication (docs/contract/direct.md#parties). The service checks the form of the device's
// fingerprint. The vendor judges all other fields, so the service checks only their JSON type.
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import type { Applicant, Device } from '../../../../kernel/applicant.js';

const text = { message: 'must be a string' };
const Text = (described: ApiPropertyOptions = {}): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional(described), IsOptional(), IsString(text));
const fingerprint = {
  maxLength: 4_000,
  pattern: '^[ a-zA-Z0-9&._-]*$',
  description: "As the device's fingerprint collector gave it",
};
const fingerprintForm = { message: 'must have only letters, digits, spaces and the characters & . _ -' };
const fingerprintLength = { message: `must have at most ${fingerprint.maxLength} characters` };
const FINGERPRINT = new RegExp(fingerprint.pattern);

export class DeviceBody {
  @ApiProperty({ ...fingerprint, minLength: 1 })
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

  @Text({ description: "The person's address, as your server saw it; expected" }) readonly ipAddress?: string;
  @Text({ description: 'Expected' }) readonly currentAddress?: string;
  @Text({ description: 'Expected' }) readonly currentCity?: string;
  @Text({ description: 'Expected; two letters' }) readonly currentState?: string;
  @Text({ description: 'Expected; five digits' }) readonly currentZip?: string;
}

export class RegistrationBody extends DeviceBody {
  @Text({ description: 'Expected' }) readonly firstName?: string;
  @Text() readonly middleName?: string;
  @Text({ description: 'Expected' }) readonly lastName?: string;
  @Text({ description: 'Nine digits', example: '666123456' }) readonly ssn?: string;
  @Text({ description: 'MMDDYYYY', example: '04121990' }) readonly dob?: string;
  @Text({ example: '4155550134' }) readonly phoneNumber?: string;
  @Text() readonly email?: string;
  @Text({ description: "Only for organizations, beside the contact person's data" }) readonly companyName?: string;
  @Text() readonly mothersMaidenName?: string;
  @Text() readonly spouseName?: string;
  @Text() readonly propertyZip?: string;

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
