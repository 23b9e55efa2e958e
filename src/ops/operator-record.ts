// Records the use of operator tools, before anything is shown.
import { Injectable } from '@nestjs/common';
import { Option } from 'nest-commander';
import { ProcessSettings } from '../config/process.js';
import { Clock } from '../kernel/clock.js';
import type { ActionContext } from '../kernel/context.js';
import { operatorUses, USES, type ToolUse } from '../modules/operators/domain/operator-uses.js';
import { GroupedStream } from '../platform/aggregates/grouped-stream.js';
import { EventStore } from '../ports/event-store.js';
import { lineIn, NO_REASON, operatorContext, ticketIn, WrongInput } from './operator.js';
import { OperatorCommand } from './operator-command.js';

export interface PurposeValues {
  readonly purpose?: string;
  readonly ticket?: string;
}

export const PURPOSE = {
  flags: '--purpose <text>',
  description: 'what this is needed for, recorded in the log with your name; required in production; no personal data',
} as const;

/** A command that shows a case or a person, and that records itself. */
export abstract class PurposedCommand extends OperatorCommand {
  @Option(PURPOSE)
  readPurpose(text: string): string {
    return lineIn(text, '--purpose');
  }

  @Option({ flags: '--ticket <id>', description: 'the ticket that asked for this, recorded in the log' })
  readTicket(text: string): string {
    return ticketIn(text);
  }
}

type Look = Omit<ToolUse, 'purpose' | 'options'> & Partial<Pick<ToolUse, 'options'>>;

/** Every command that shows, exports or searches cases or persons calls `use` or `look` before it shows anything. */
@Injectable()
export class OperatorRecord {
  private readonly streams: GroupedStream;

  constructor(
    private readonly process: ProcessSettings,
    events: EventStore,
    clock: Clock,
  ) {
    this.streams = new GroupedStream(events, clock, { appendConflict: () => undefined });
  }

  /** Throws WrongInput when production lacks a purpose. */
  purposeIn({ purpose }: PurposeValues): string {
    if (purpose === undefined && this.process.production)
      throw new WrongInput('In production this needs --purpose <text>, which is recorded in the log with your name.');
    return purpose ?? NO_REASON;
  }

  async look(look: Look, values: PurposeValues): Promise<void> {
    await this.use(look, values, operatorContext(undefined, values.ticket));
  }

  /** `context` names the operator, and the reason of a command that asks for one. A use that cannot be recorded fails, except on a restored copy. */
  async use({ options = [], ...look }: Look, values: PurposeValues, context: ActionContext): Promise<void> {
    const use = { ...look, purpose: this.purposeIn(values), options };
    if (this.process.readOnly) {
      process.stderr.write('This is a restored copy that can only be read, so the log does not record this look.\n');
      return;
    }
    await this.streams.execute(operatorUses, USES, { kind: 'record', ...use }, context);
  }
}
