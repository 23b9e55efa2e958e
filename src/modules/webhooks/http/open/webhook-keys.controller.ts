import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { ReadsOnly } from '../../../../platform/http/limited.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { WebhookKeyReader } from '../../read/webhook-keys.js';

export class WebhookKeysQuery {
  @ApiProperty({ format: 'uuid', description: 'Id of the account that receives the webhooks' })
  @Matches(/^[^]+$/, { message: 'must be the id of an account, given once' })
  readonly account!: string;
}

export class WebhookKeyResult {
  @ApiProperty({ format: 'uuid' }) readonly kid!: string;
  @ApiProperty({ pattern: '^whpk_[A-Za-z0-9+/]{43}=$', description: 'Ed25519, 32 bytes in base64 after the prefix' })
  readonly public_key!: string;
  @ApiProperty({ format: 'date-time' }) readonly valid_from!: string;
  @ApiPropertyOptional({ format: 'date-time', description: 'Absent for the newest key. Until then both sign' })
  readonly valid_until?: string;
}

export class WebhookKeysResult {
  @ApiProperty({ type: [WebhookKeyResult], description: 'The newest first; empty for an account without a key' })
  readonly keys!: readonly WebhookKeyResult[];
}

/** The public keys of an account's webhooks, for receivers (docs/contract/webhooks.md#signatures-without-a-shared-secret). */
@ApiTags('webhooks')
@Controller('.well-known')
export class WebhookKeysController {
  constructor(private readonly reader: WebhookKeyReader) {}

  @Get('webhook-keys.json')
  @ReadsOnly()
  @Header('cache-control', 'public, max-age=60')
  @Operation({
    id: 'readWebhookKeys',
    summary: 'Public keys that verify the `v1a` signatures of an account',
    description: 'Reads only. An unknown account and an account without a key get the same reply.',
    query: WebhookKeysQuery,
    replies: { 200: WebhookKeysResult },
    errors: [],
  })
  async keys(@Query() { account }: WebhookKeysQuery): Promise<WebhookKeysResult> {
    const keys = await this.reader.of(account);
    return {
      keys: keys.map(({ keyId, publicKey, validFrom, expiresAt }) => ({
        kid: keyId,
        public_key: publicKey,
        valid_from: validFrom,
        ...(expiresAt !== null && { valid_until: expiresAt }),
      })),
    };
  }
}
