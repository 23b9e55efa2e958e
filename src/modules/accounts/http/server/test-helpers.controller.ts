import { Body, Controller, Get, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Clock } from '../../../../kernel/clock.js';
import { fieldError } from '../../../../kernel/domain-error.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { PassedWaits } from '../../application/passed-waits.js';
import { SetVendorBehaviour } from '../../application/set-vendor-behaviour.js';
import { requireTestKey } from '../../application/test-key.js';
import { TurnClock } from '../../application/turn-clock.js';
import { AccountDirectory } from '../../read/accounts.js';
import {
  TestClockResult,
  TurnClockBody,
  VendorBehaviourBody,
  VendorBehaviourList,
  VendorBehaviourResult,
} from './test-helper-bodies.js';

/** Helpers for the tests of integrators (docs/contract/server.md#test-helpers). */
@ApiTags('test helpers')
@ApiSecurity('secret-key')
@Controller('v1/test_helpers')
export class TestHelpersController {
  constructor(
    private readonly commands: CommandBus,
    private readonly accounts: AccountDirectory,
    private readonly passed: PassedWaits,
    private readonly clock: Clock,
  ) {}

  @Post('vendor')
  @Limited({ by: ['testHelpersPerHour'] })
  @Operation({
    id: 'setVendorBehaviour',
    summary: "Make the account's test vendor misbehave until a time",
    description: 'Other accounts, and live traffic, are not affected.',
    body: VendorBehaviourBody,
    replies: { 200: VendorBehaviourResult },
    errors: ['request.forbidden'],
  })
  async setVendorBehaviour(
    @Body() { capability, behaviour, until }: VendorBehaviourBody,
    @CurrentContext() context: RequestContext,
  ): Promise<VendorBehaviourResult> {
    const wish = await this.commands.execute(
      new SetVendorBehaviour({ capability, behaviour, until: until ?? null }, context),
    );
    return wish ?? { capability, behaviour: 'normal', until: null };
  }

  @Get('vendor')
  @ReadsOnly()
  @Operation({
    id: 'listVendorBehaviours',
    summary: 'The behaviours that hold now',
    description: 'Without an entry, a vendor behaves as usual.',
    replies: { 200: VendorBehaviourList },
    errors: ['request.forbidden'],
  })
  async vendorBehaviours(@CurrentContext() context: RequestContext): Promise<VendorBehaviourList> {
    requireTestKey(context);
    return { object: 'list', data: [...(await this.accounts.behaviours(context.accountId))] };
  }

  @Post('clock')
  @Limited({ by: ['testHelpersPerHour'] })
  @Operation({
    id: 'turnClock',
    summary: "Turn the account's test clock forward",
    description:
      'Everything that is due by the new time happens at once, in order of time. The clock can only go forward. ' +
      'Other accounts, children and live traffic keep their own time.',
    body: TurnClockBody,
    replies: { 200: TestClockResult },
    errors: ['request.forbidden'],
  })
  async turnClock(
    @Body() { advance, to }: TurnClockBody,
    @CurrentContext() context: RequestContext,
  ): Promise<TestClockResult> {
    requireTestKey(context);
    if ((advance === undefined) === (to === undefined))
      throw fieldError('request.invalid', 'test.advance', 'must be given, or to instead of it, but not both');
    const turn = to === undefined ? { bySeconds: advance ?? 0 } : { to: new Date(to) };
    await this.commands.execute(new TurnClock(turn, context));
    return this.shownClock(context);
  }

  @Get('clock')
  @ReadsOnly()
  @Operation({
    id: 'getClock',
    summary: "The account's test clock",
    description: 'When the status is ready, everything that is due by this clock is done.',
    replies: { 200: TestClockResult },
    errors: ['request.forbidden'],
  })
  async testClock(@CurrentContext() context: RequestContext): Promise<TestClockResult> {
    requireTestKey(context);
    return this.shownClock(context);
  }

  private async shownClock(context: RequestContext): Promise<TestClockResult> {
    const { accountId } = context;
    const { aheadMs } = await this.accounts.testClock(accountId);
    const isAdvancing = aheadMs > 0 && (await this.passed.any(accountId));
    return {
      now: (await this.clock.of(context)).toISOString(),
      offset_seconds: aheadMs / 1_000,
      status: isAdvancing ? 'advancing' : 'ready',
    };
  }
}
