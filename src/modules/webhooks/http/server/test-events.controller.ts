import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiProperty, ApiPropertyOptional, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { IsIn, IsObject, IsOptional } from 'class-validator';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import type { EventType } from '../../../../published/events.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { TriggerTestEvent } from '../../application/trigger-test-event.js';
import { EventResult } from './event-results.js';
import { EVENT_TYPES } from './events-query.js';

class TestEventBody {
  @ApiProperty({ enum: EVENT_TYPES })
  @IsIn(EVENT_TYPES, { message: `must be one of ${EVENT_TYPES.join(', ')}` })
  readonly type!: EventType;

  @ApiPropertyOptional({
    type: Object,
    additionalProperties: true,
    description: 'Fields of the data of the event. Absent fields get sample values, and unknown fields are 400',
    example: { user_type: 'CONSUMER' },
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Test events, for integrators that try their receivers (docs/contract/server.md#test-events). */
@ApiTags('test helpers')
@ApiSecurity('secret-key')
@Controller('v1/test_helpers/events')
export class TestEventsController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @Limited({ by: ['testHelpersPerHour'] })
  @Operation({
    id: 'triggerTestEvent',
    summary: 'Publish an event in the test environment of the account',
    description: 'The event is in the feed, and is delivered to the endpoint. No screening or payment changes.',
    body: TestEventBody,
    replies: { 200: EventResult },
    errors: ['request.forbidden'],
  })
  async trigger(
    @Body() { type, data = {} }: TestEventBody,
    @CurrentContext() context: RequestContext,
  ): Promise<EventResult> {
    return this.commands.execute(new TriggerTestEvent({ type, data }, context));
  }
}
