import { Module } from '@nestjs/common';
import { SURFACES } from './all.js';

/** Who judges the callers of each API surface. Needs BearerTokens, EmbeddedComponent and AccessKeys, which are global. */
@Module({ providers: SURFACES.all.flatMap(({ authenticator }) => authenticator ?? []) })
export class SurfacesModule {}
