import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { IncomeModule } from './income.module.js';
import { IncomeController } from './http/platform/income.controller.js';
import { ServerIncomeController } from './http/server/server-income.controller.js';

@Module({
  imports: [AccountsModule, IncomeModule],
  controllers: [IncomeController, ServerIncomeController],
})
export class IncomeRoutesModule {}
