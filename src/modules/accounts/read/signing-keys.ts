import { Injectable } from '@nestjs/common';
import { TokenKeys, type PublicJwk } from '../../../ports/token-keys.js';

/** What others need to verify our tokens themselves. */
@Injectable()
export class SigningKeys {
  constructor(private readonly keys: TokenKeys) {}

  jwks(): { keys: PublicJwk[] } {
    return { keys: [...this.keys.published()] };
  }
}
