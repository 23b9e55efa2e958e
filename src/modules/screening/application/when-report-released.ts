import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { REPORT_RELEASED } from '../../../published/reports.js';
import { DiscardApplicant } from './discard-applicant.js';

/** A released report is stored, so the bureau needs the person's own data no more. */
@Injectable()
export class WhenReportReleased implements EventHandler {
  readonly name = 'screening_applicant';
  readonly categories = [REPORT_RELEASED.category];
  readonly types: ReadonlySet<string> = new Set([REPORT_RELEASED.type]);

  constructor(private readonly commands: CommandBus) {}

  async handle({ stream }: RecordedEvent): Promise<void> {
    await this.commands.execute(new DiscardApplicant(idOf(stream)));
  }
}
