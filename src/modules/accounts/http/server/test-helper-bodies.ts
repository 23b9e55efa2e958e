// Requests and replies of /v1/test_helpers, in their wire form (docs/contract/server.md#test-helpers).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsISO8601, IsOptional, Matches } from 'class-validator';
import { VENDOR_BEHAVIOURS } from '../../../../kernel/vendor-behaviour.js';
import { CAPABILITIES, type Capability } from '../../../../kernel/vendor-choice.js';

const TIME_RULE = { message: 'must be a time in ISO 8601 with its zone, such as 2026-01-31T12:00:00Z' };
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

export class VendorBehaviourList {
  @ApiProperty({ enum: ['list'] }) readonly object!: 'list';
  @ApiProperty({ type: [VendorBehaviourResult] }) readonly data!: VendorBehaviourResult[];
}
