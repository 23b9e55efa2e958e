import { Module } from '@nestjs/common';
import { HttpSettings } from '../config/http.js';
import { AccountsModule } from '../modules/accounts/accounts.module.js';
import { SURFACES } from './all.js';
import { EmbeddedComponent } from './platform.js';

/** Who judges the callers of each API surface. Accounts know who holds a key. */
@Module({
  imports: [AccountsModule],
  providers: [
    {
      provide: EmbeddedComponent,
      useFactory: ({ embeddedUrl }: HttpSettings) => ({ url: embeddedUrl }),
      inject: [HttpSettings],
    },
    ...SURFACES.all.flatMap(({ authenticator }) => authenticator ?? []),
  ],
})
export class SurfacesModule {}
