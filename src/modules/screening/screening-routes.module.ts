import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ScreeningModule } from './screening.module.js';
import { OptionsController } from './http/platform/options.controller.js';
import { ScreeningController } from './http/platform/screening.controller.js';
import { ServerScreeningController } from './http/server/server-screening.controller.js';
import { ScreeningLists } from './read/screening-lists.js';
import { Timelines } from './read/timeline.js';

@Module({
  imports: [AccountsModule, ScreeningModule],
  controllers: [OptionsController, ScreeningController, ServerScreeningController],
  providers: [ScreeningLists, Timelines],
})
export class ScreeningRoutesModule {}
