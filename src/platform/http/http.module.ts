import { Global, Module } from '@nestjs/common';
import { BearerTokens } from './bearer-tokens.js';

/** What judges and makes the bearer tokens of every API surface. */
@Global()
@Module({ providers: [BearerTokens], exports: [BearerTokens] })
export class HttpModule {}
