// The request bodies for the management of webhook endpoints (docs/contract/webhooks.md#endpoint, #secrets).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsInt, IsOptional, IsString, Max, MaxLength, Min, ValidateBy, ValidateIf } from 'class-validator';
import { IsMailAddress, means, NullCounts } from '../../../../platform/http/body-pipe.js';
import { DELIVERED_TYPES, type EventType } from '../../../../published/events.js';
import type { EndpointChange } from '../../application/change-endpoint.js';
import type { EndpointView } from '../../read/endpoints.js';

const MAX_URL = 2_048;
const MAX_MAIL_ADDRESS = 254;
const MAX_OVERLAP_SECONDS = 259_200;
const DEFAULT_OVERLAP_SECONDS = 86_400;

const text = { message: 'must be a string' };
const EVENTS_RULE = 'must be null or a list of at least one event type that is delivered, without ping';
const OVERLAP_RULE = { message: `must be a whole number of seconds from 0 to ${MAX_OVERLAP_SECONDS}` };
const notTooLong = means('webhook.url_invalid', `must have at most ${MAX_URL} characters`);
const IsEventList = (): PropertyDecorator =>
  ValidateBy({
    name: 'isEventList',
    constraints: [{ form: { minItems: 1 } }],
    validator: { validate: isEventList, defaultMessage: () => EVENTS_RULE },
  });
/** `v1` may not be missing, so that a receiver with the endpoint's secret always finds its signature. */
const IsSignatureList = (): PropertyDecorator =>
  ValidateBy({
    name: 'isSignatureList',
    constraints: [{ form: { minItems: 1 } }],
    validator: {
      validate: (value) => Array.isArray(value) && value.includes('v1') && value.every(isSignatureVersion),
      defaultMessage: () => 'must be ["v1"] or ["v1","v1a"]',
    },
  });
const SEQUENCE_RULE = { message: 'must be a sequence of the event feed: a whole number from 0' };
const mailAddress = { message: 'must be a mail address' };

function isEventList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => (DELIVERED_TYPES as readonly unknown[]).includes(one))
  );
}

function isSignatureVersion(value: unknown): boolean {
  return (SIGNATURE_VERSIONS as readonly unknown[]).includes(value);
}

type Signatures = EndpointView['signatures'];

export const SIGNATURE_VERSIONS = ['v1', 'v1a'] as const satisfies Signatures;
const MAX_PER_SECOND = 1_000;
const RATE_RULE = { message: `must be null or a whole number from 1 to ${MAX_PER_SECOND}` };
const RATE_SHOWN = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_PER_SECOND,
  nullable: true,
  description: 'The most attempts that the endpoint gets in a second. Null or absent: no limit of its own',
} as const;
const SIGNATURES_SHOWN = {
  isArray: true,
  enum: [...SIGNATURE_VERSIONS],
  nullable: true,
  example: ['v1', 'v1a'],
  description: 'The signatures of each delivery. `v1a` needs no shared secret. Null or absent: `v1` only',
};
const EVENTS_SHOWN = {
  isArray: true,
  enum: DELIVERED_TYPES,
  nullable: true,
  description: 'Null or absent: all current and future event types',
};
const MAIL_SHOWN = {
  type: String,
  format: 'email',
  nullable: true,
  description: "Gets mails about changes of the endpoint's health, and no others",
};

export class CreateEndpointBody {
  @ApiProperty({
    format: 'uri',
    description: 'An https address whose host resolves only to public addresses',
    example: 'https://hooks.example.com/screenings',
  })
  @MaxLength(MAX_URL, notTooLong)
  @IsString(text)
  readonly url!: string;

  @ApiPropertyOptional(EVENTS_SHOWN)
  @IsOptional()
  @IsEventList()
  readonly enabled_events?: readonly EventType[];

  @ApiPropertyOptional(MAIL_SHOWN)
  @IsOptional()
  @IsMailAddress(mailAddress)
  @MaxLength(MAX_MAIL_ADDRESS, { message: `must have at most ${MAX_MAIL_ADDRESS} characters` })
  @IsString(text)
  readonly notify_email?: string;

  @ApiPropertyOptional(SIGNATURES_SHOWN)
  @IsOptional()
  @IsSignatureList()
  readonly signatures?: Signatures;

  @ApiPropertyOptional(RATE_SHOWN)
  @IsOptional()
  @Max(MAX_PER_SECOND, RATE_RULE)
  @Min(1, RATE_RULE)
  @IsInt(RATE_RULE)
  readonly max_per_second?: number;

  @ApiPropertyOptional({
    type: Boolean,
    default: false,
    description: 'Makes a disabled endpoint. It gets events from its first PUT on',
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  readonly disabled?: boolean;
}

/** In a change, null has a meaning of its own: it removes an earlier choice. */
export class ChangeEndpointBody {
  @ApiPropertyOptional({ format: 'uri', description: 'Absent: unchanged' })
  // An endpoint must have an address, so null is refused.
  @NullCounts()
  @ValidateIf(({ url }: ChangeEndpointBody) => url !== undefined)
  @MaxLength(MAX_URL, notTooLong)
  @IsString(text)
  readonly url?: string;

  @ApiPropertyOptional({ ...EVENTS_SHOWN, description: 'Absent: unchanged. Null: all current and future event types' })
  @NullCounts()
  @IsOptional()
  @IsEventList()
  readonly enabled_events?: readonly EventType[] | null;

  @ApiPropertyOptional({ ...MAIL_SHOWN, description: 'Absent: unchanged. Null: no more mails' })
  @NullCounts()
  @IsOptional()
  @IsMailAddress(mailAddress)
  @MaxLength(MAX_MAIL_ADDRESS, { message: `must have at most ${MAX_MAIL_ADDRESS} characters` })
  @IsString(text)
  readonly notify_email?: string | null;

  @ApiPropertyOptional({ ...SIGNATURES_SHOWN, description: 'Absent: unchanged. Null: `v1` only' })
  @NullCounts()
  @IsOptional()
  @IsSignatureList()
  readonly signatures?: Signatures | null;

  @ApiPropertyOptional({ ...RATE_SHOWN, description: 'Absent: unchanged. Null: no limit of its own' })
  @NullCounts()
  @IsOptional()
  @Max(MAX_PER_SECOND, RATE_RULE)
  @Min(1, RATE_RULE)
  @IsInt(RATE_RULE)
  readonly max_per_second?: number | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    description: 'Delivers the events of the feed from this sequence on, in order and before new ones',
  })
  @IsOptional()
  @Max(Number.MAX_SAFE_INTEGER, SEQUENCE_RULE)
  @Min(0, SEQUENCE_RULE)
  @IsInt(SEQUENCE_RULE)
  readonly resume_from?: number;
}

export class RotateSecretBody {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    default: DEFAULT_OVERLAP_SECONDS,
    description: 'How long the previous secret signs as well',
  })
  @IsOptional()
  @Max(MAX_OVERLAP_SECONDS, OVERLAP_RULE)
  @Min(0, OVERLAP_RULE)
  @IsInt(OVERLAP_RULE)
  readonly previous_valid_for_seconds?: number;
}

export function overlapOf({ previous_valid_for_seconds }: RotateSecretBody): number {
  return previous_valid_for_seconds ?? DEFAULT_OVERLAP_SECONDS;
}

/** Lists each type once, so that the same choice gives the same list. */
export function eventsOf(events: readonly EventType[] | undefined): readonly EventType[] | null {
  return events === undefined ? null : [...new Set(events)];
}

/** In a fixed order, so that the same choice gives the same list. */
export function signaturesOf(chosen: Signatures | undefined): Signatures {
  return chosen === undefined ? ['v1'] : SIGNATURE_VERSIONS.filter((one) => chosen.includes(one));
}

export function changeOf(body: ChangeEndpointBody): EndpointChange {
  const {
    url,
    enabled_events: events,
    notify_email: mail,
    signatures,
    max_per_second: rate,
    resume_from: resumeFrom,
  } = body;
  return {
    ...(resumeFrom !== undefined && { resumeFrom }),
    ...(url !== undefined && { url }),
    ...(events !== undefined && { enabledEvents: eventsOf(events ?? undefined) }),
    ...(mail !== undefined && { notifyEmail: mail }),
    ...(rate !== undefined && { maxPerSecond: rate }),
    ...(signatures !== undefined && { signatures: signaturesOf(signatures ?? undefined) }),
  };
}
