import { Controller, Get, Header, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentPrincipal, type Principal } from '../../../../platform/http/principal.js';
import { ExpireSession } from '../../application/expire-session.js';
import { ScreeningStatusReader, type UnitAddress } from '../../read/screening-status.js';

const text = { type: 'string' } as const;

class ServerStatusResult {
  @ApiProperty({ format: 'uuid' }) readonly session_id!: string;
  @ApiProperty() readonly status!: string;
  @ApiProperty() readonly verification_status!: string;
  @ApiProperty({
    enum: ['NOT_REQUIRED', 'PENDING', 'PROCESSING', 'REQUIRES_ACTION', 'SUCCEEDED', 'FAILED', 'REFUNDED'],
  })
  readonly payment_status!: string;
  @ApiProperty({ description: 'COMPLETED, PAYMENT_PENDING, PAYMENT_FAILED or the raw status' })
  readonly overall_status!: string;
  @ApiProperty({ enum: ['CONSUMER', 'AGENT', 'PMC'] }) readonly user_type!: string;
  @ApiProperty({ format: 'date-time' }) readonly created_at!: string;
  @ApiProperty({ format: 'date-time' }) readonly updated_at!: string;
  @ApiPropertyOptional({ format: 'date-time', description: 'Present after the release of a report' })
  readonly report_expires_at?: string;
  @ApiPropertyOptional({
    oneOf: [text, { type: 'object', properties: { address: text, city: text, state: text, zip: text } }],
    description:
      "The home that the screening is for, as the page gave it. Only in the account's own sessions, until the person is erased",
  })
  readonly unit_address?: UnitAddress;
}

/** Reads screenings of the account and its direct children, for servers with a secret key (docs/contract/server.md#readable-sessions). */
@ApiTags('screening')
@ApiSecurity('secret-key')
@Controller('v1/screenings')
export class ServerScreeningController {
  constructor(
    private readonly commands: CommandBus,
    private readonly statuses: ScreeningStatusReader,
    private readonly clock: Clock,
  ) {}

  @Get(':session_id/status')
  @Limited({ not: 'it reads; the end of an overdue session is recorded once' })
  @ApiOperation({ summary: 'Read the status of a session and its payment' })
  @Header('cache-control', 'no-store')
  @ApiOkResponse({ type: ServerStatusResult })
  async status(@Param('session_id') id: string, @CurrentPrincipal() principal: Principal): Promise<ServerStatusResult> {
    let found = await this.statuses.findReadable(id, principal);
    if (found && this.statuses.isOverdue(found.doc, this.clock.now())) {
      await this.commands.execute(new ExpireSession(id));
      found = await this.statuses.findReadable(id, principal);
    }
    if (!found) throw new DomainError('screening.not_found');
    const { accountId, session, paymentStatus, overallStatus, createdAt, updatedAt } = found.doc;
    const reportExpiresAt = await this.statuses.reportExpiryOf(id);
    // A parent account does not see the unit addresses of its children.
    const unitAddress = accountId === principal.accountId ? await this.statuses.unitAddressOf(id, session) : null;
    return {
      session_id: id,
      status: session.status,
      verification_status: session.status,
      payment_status: paymentStatus,
      overall_status: overallStatus,
      user_type: session.userType,
      created_at: createdAt,
      updated_at: updatedAt,
      ...(reportExpiresAt !== null && { report_expires_at: reportExpiresAt }),
      ...(unitAddress !== null && { unit_address: unitAddress }),
    };
  }
}
