import { Global, Module } from '@nestjs/common';
import { BearerTokens } from './bearer-strategy.js';

/** The parts with which the bearer strategies of the API surfaces verify tokens. */
@Global()
@Module({ providers: [BearerTokens], exports: [BearerTokens] })
export class HttpModule {}
