import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
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
  @Limited({ not: 'only a server of the account asks for it, and only its own test traffic meets it' })
  @HttpCode(200)
  @ApiOperation({ summary: "Make the account's test vendor misbehave until a time" })
  @ApiOkResponse({ type: VendorBehaviourResult })
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
  @ApiOperation({ summary: 'The behaviours that hold now' })
  @ApiOkResponse({ type: VendorBehaviourList })
  async vendorBehaviours(@CurrentContext() context: RequestContext): Promise<VendorBehaviourList> {
    requireTestKey(context);
    return { object: 'list', data: [...(await this.accounts.behaviours(context.accountId))] };
  }
}
