import { Module } from '@nestjs/common';
import { AccountsModule } from './accounts.module.js';
import { PublishableKeys } from './http/platform/publishable-keys.js';
import { Renewals } from './http/platform/renewals.js';
import { GrantsController } from './http/server/grants.controller.js';
import { RequestsController } from './http/server/requests.controller.js';
import { TestHelpersController } from './http/server/test-helpers.controller.js';
import { JwksController, TokenController } from './http/platform/token.controller.js';

@Module({
  imports: [AccountsModule],
  controllers: [TokenController, JwksController, GrantsController, TestHelpersController, RequestsController],
  providers: [PublishableKeys, Renewals],
})
export class AccountRoutesModule {}
