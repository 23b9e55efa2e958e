// Requests and replies of the token routes, in their wire form.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ExchangedToken } from '../../application/exchange-token.js';

export class ExchangeBody {
  @ApiPropertyOptional({ type: String, description: 'A session grant, for callers that cannot send X-Session-Token.' })
  session_token?: string;
}

export class GrantBody {
  @ApiProperty({ type: Boolean })
  consumed: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    enum: ['ALREADY_CONSUMED', 'EXPIRED', 'NOT_FOUND', 'ENVIRONMENT_MISMATCH', 'ACCOUNT_MISMATCH'],
  })
  reason: string | null;

  @ApiProperty({
    type: Boolean,
    description: 'Whether the grant is on behalf of a child; false for an unknown grant',
  })
  onBehalfOf: boolean;
}

const FLAGS = { type: Object, additionalProperties: { type: 'boolean' } };

export class TokenBody {
  @ApiProperty({ type: String, description: 'A JWT that is valid only from the origin that asked for it.' })
  token: string;

  @ApiProperty({ type: String, enum: ['Bearer'] })
  token_type: 'Bearer';

  @ApiProperty({ type: 'integer', description: 'Seconds.', example: 3600 })
  expires_in: number;

  @ApiProperty({
    ...FLAGS,
    deprecated: true,
    description: 'featureFlags and accountFlags together. Ignore unknown keys.',
  })
  flags: Record<string, boolean>;

  @ApiProperty({ ...FLAGS, description: 'Ignore unknown keys.' })
  featureFlags: Record<string, boolean>;

  @ApiProperty({ ...FLAGS, description: 'Ignore unknown keys.' })
  accountFlags: Record<string, boolean>;

  @ApiPropertyOptional({ type: GrantBody, description: 'Present when a session grant was supplied.' })
  grant?: GrantBody;
}

export class JwkBody {
  @ApiProperty({ type: String, enum: ['EC'] })
  kty: string;

  @ApiProperty({ type: String, enum: ['P-256'] })
  crv: string;

  @ApiProperty({ type: String })
  x: string;

  @ApiProperty({ type: String })
  y: string;

  @ApiProperty({ type: String, description: 'RFC 7638 thumbprint.' })
  kid: string;

  @ApiProperty({ type: String, enum: ['ES256'] })
  alg: string;

  @ApiProperty({ type: String, enum: ['sig'] })
  use: string;
}

export class JwksBody {
  @ApiProperty({ type: [JwkBody] })
  keys: JwkBody[];
}

export function tokenBody({ token, expiresInSeconds, account, grant }: ExchangedToken): TokenBody {
  const featureFlags = {};
  const accountFlags = { consumerPays: account.consumerPays };
  return {
    token,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    flags: { ...featureFlags, ...accountFlags },
    featureFlags,
    accountFlags,
    ...(grant && { grant: { consumed: grant.consumed, reason: grant.reason, onBehalfOf: grant.onBehalfOfChild } }),
  };
}
