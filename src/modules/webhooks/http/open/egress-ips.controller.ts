import { Controller, Get, Header } from '@nestjs/common';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { ReadsOnly } from '../../../../platform/http/limited.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { WebhookPolicy } from '../../application/webhook-policy.js';

export class EgressIpsResult {
  @ApiProperty({ type: [String], description: 'IP addresses and CIDR ranges', example: ['198.51.100.7'] })
  readonly ip_addresses!: readonly string[];
}

/** The addresses of this service, for the firewalls of receivers (docs/contract/webhooks.md#addresses-of-the-service). */
@ApiTags('webhooks')
@Controller('.well-known')
export class EgressIpsController {
  constructor(private readonly policy: WebhookPolicy) {}

  @Get('egress-ips.json')
  @ReadsOnly()
  @Header('cache-control', 'public, max-age=300')
  @Operation({
    id: 'readEgressIps',
    summary: 'The addresses from which webhooks come',
    description: 'Reads only. Empty: the operator names no fixed addresses.',
    replies: { 200: EgressIpsResult },
    errors: [],
  })
  addresses(): EgressIpsResult {
    return { ip_addresses: this.policy.egressIps };
  }
}
