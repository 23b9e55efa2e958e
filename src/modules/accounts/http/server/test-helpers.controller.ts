import { Body, Controller, Get, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { SetVendorBehaviour } from '../../application/set-vendor-behaviour.js';
import { requireTestKey } from '../../application/test-key.js';
import { AccountDirectory } from '../../read/accounts.js';
import { VendorBehaviourBody, VendorBehaviourList, VendorBehaviourResult } from './test-helper-bodies.js';

/** Helpers for the tests of integrators (docs/contract/server.md#test-helpers). */
@ApiTags('test helpers')
@ApiSecurity('secret-key')
@Controller('v1/test_helpers')
export class TestHelpersController {
  constructor(
    private readonly commands: CommandBus,
    private readonly accounts: AccountDirectory,
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
}
