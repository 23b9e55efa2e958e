import { Controller, Get, Header, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiProperty, ApiPropertyOptional, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentPrincipal, type Principal } from '../../../../platform/http/principal.js';
import { USER_TYPES, type UserType } from '../../../../published/accounts.js';
import {
  OVERALL_STATUSES,
  type OverallStatus,
  PAYMENT_STATUSES,
  type PaymentStatus,
  VERIFICATION_STATUSES,
  type VerificationStatus,
} from '../../../../published/screenings.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { ExpireSession } from '../../application/expire-session.js';
import { ScreeningStatusReader, type UnitAddress } from '../../read/screening-status.js';

const text = { type: 'string' } as const;

class ServerStatusResult {
  @ApiProperty({ format: 'uuid' }) readonly session_id!: string;
  @ApiProperty({ enum: VERIFICATION_STATUSES }) readonly status!: VerificationStatus;
  @ApiProperty({ enum: VERIFICATION_STATUSES, description: 'The same as `status`' })
  readonly verification_status!: VerificationStatus;
  @ApiProperty({ enum: PAYMENT_STATUSES }) readonly payment_status!: PaymentStatus;
  @ApiProperty({ enum: OVERALL_STATUSES, description: 'What to branch on: verification and payment together' })
  readonly overall_status!: OverallStatus;
  @ApiProperty({ enum: USER_TYPES }) readonly user_type!: UserType;
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
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readScreeningStatusOnServer',
    summary: 'Read the status of a session and its payment',
    description: 'Sessions of the account and of its direct children.',
    replies: { 200: ServerStatusResult },
    errors: ['screening.not_found'],
  })
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
