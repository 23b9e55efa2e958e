import { Module } from '@nestjs/common';
import { HttpSettings } from '../config/http.js';
import { SURFACES } from '../surfaces/all.js';
import { EmbeddedComponent } from '../surfaces/platform.js';
import { AccountsModule } from './accounts/accounts.module.js';

/** The authenticators of the API surfaces. The accounts module finds the holder of each key. */
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
