// Requests and replies of /v1/test_helpers, in their wire form (docs/contract/server.md#test-helpers).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsISO8601, IsOptional, Matches, Max, Min } from 'class-validator';
import { VENDOR_BEHAVIOURS } from '../../../../kernel/vendor-behaviour.js';
import { CAPABILITIES, type Capability } from '../../../../kernel/vendor-choice.js';

const TIME_RULE = { message: 'must be a time in ISO 8601 with its zone, such as 2026-01-31T12:00:00Z' };
const MOST_SECONDS = 36_525 * 86_400;
const BEHAVIOURS = [...VENDOR_BEHAVIOURS, 'normal'] as const;
type Behaviour = (typeof BEHAVIOURS)[number];

export class VendorBehaviourBody {
  @ApiProperty({ enum: CAPABILITIES })
  @IsIn(CAPABILITIES, { message: `must be one of ${CAPABILITIES.join(', ')}` })
  readonly capability!: Capability;

  @ApiProperty({ enum: BEHAVIOURS, description: 'normal ends the behaviour that holds' })
  @IsIn(BEHAVIOURS, { message: `must be one of ${BEHAVIOURS.join(', ')}` })
  readonly behaviour!: Behaviour;

  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Within the next 24 hours; one hour from now when it is absent',
  })
  @IsOptional()
  @Matches(/(?:Z|[+-]\d\d:\d\d)$/, TIME_RULE)
  @IsISO8601({ strict: true }, TIME_RULE)
  readonly until?: string;
}

export class VendorBehaviourResult {
  @ApiProperty({ enum: CAPABILITIES }) readonly capability!: Capability;
  @ApiProperty({ enum: BEHAVIOURS }) readonly behaviour!: Behaviour;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) readonly until!: string | null;
}

export class TurnClockBody {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MOST_SECONDS,
    example: 2_592_000,
    description: 'Seconds by which the clock advances. Give either advance or to',
  })
  @IsOptional()
  @Min(1, { message: 'must turn the clock forward' })
  @Max(MOST_SECONDS, { message: `must be at most ${MOST_SECONDS} seconds` })
  @IsInt({ message: 'must be a whole number of seconds' })
  readonly advance?: number;

  @ApiPropertyOptional({
    format: 'date-time',
    description: 'The time that the clock then shows, later than its present time',
  })
  @IsOptional()
  @Matches(/(?:Z|[+-]\d\d:\d\d)$/, TIME_RULE)
  @IsISO8601({ strict: true }, TIME_RULE)
  readonly to?: string;
}

export class TestClockResult {
  @ApiProperty({ format: 'date-time', description: "The account's time in the test environment" })
  readonly now!: string;

  @ApiProperty({ type: 'integer', description: 'Seconds by which the clock is ahead of the real time' })
  readonly offset_seconds!: number;

  @ApiProperty({
    enum: ['advancing', 'ready'],
    description: 'advancing: something that is due by this clock is not done yet',
  })
  readonly status!: 'advancing' | 'ready';
}

export class VendorBehaviourList {
  @ApiProperty({ enum: ['list'] }) readonly object!: 'list';
  @ApiProperty({ type: [VendorBehaviourResult] }) readonly data!: VendorBehaviourResult[];
}
