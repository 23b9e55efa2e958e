import { Injectable } from '@nestjs/common';
import { TokenKeys, type PublicJwk } from '../../../ports/token-keys.js';

/** The public keys with which integrators verify the service's tokens. */
@Injectable()
export class SigningKeys {
  constructor(private readonly keys: TokenKeys) {}

  jwks(): { keys: PublicJwk[] } {
    return { keys: [...this.keys.published()] };
  }
}
