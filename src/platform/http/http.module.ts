import { Global, Module } from '@nestjs/common';
import { BearerTokens } from './bearer-strategy.js';

/** The parts that the bearer strategies of the API surfaces verify tokens with. */
@Global()
@Module({ providers: [BearerTokens], exports: [BearerTokens] })
export class HttpModule {}
