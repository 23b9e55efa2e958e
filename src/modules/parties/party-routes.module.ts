import { Module } from '@nestjs/common';
import { PartiesModule } from './parties.module.js';
import {
  AgentAuthenticationController,
  OrganizationAuthenticationController,
} from './http/direct/authentication.controllers.js';
import {
  AgentsController,
  OrganizationsController,
  RentersController,
} from './http/direct/registration.controllers.js';

@Module({
  imports: [PartiesModule],
  controllers: [
    RentersController,
    AgentsController,
    AgentAuthenticationController,
    OrganizationsController,
    OrganizationAuthenticationController,
  ],
})
export class PartyRoutesModule {}
