import { Module } from '@nestjs/common';
import { ScreeningModule } from './screening.module.js';
import { OptionsController } from './http/platform/options.controller.js';
import { ScreeningController } from './http/platform/screening.controller.js';
import { ServerScreeningController } from './http/server/server-screening.controller.js';

@Module({
  imports: [ScreeningModule],
  controllers: [OptionsController, ScreeningController, ServerScreeningController],
})
export class ScreeningRoutesModule {}
