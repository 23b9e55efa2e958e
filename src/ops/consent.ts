// Changes that cannot be undone: the reason, the operator, and the confirmation.
import { createInterface } from 'node:readline/promises';
import { Injectable } from '@nestjs/common';
import { Option } from 'nest-commander';
import { ProcessSettings } from '../config/process.js';
import type { ActionContext } from '../kernel/context.js';
import { lineIn, NO_REASON, operatorContext, ticketIn, WrongInput } from './operator.js';
import { OperatorCommand } from './operator-command.js';

export interface ConsentValues {
  readonly reason?: string;
  readonly ticket?: string;
  readonly yes?: boolean;
}

/** A command that accepts `--reason` and `--yes`. Production requires both, or a confirmation on a terminal instead of `--yes`. */
export abstract class ConsentedCommand extends OperatorCommand {
  @Option({
    flags: '--reason <text>',
    description: 'the reason, recorded in the log with your name; it must hold no personal data of a consumer',
  })
  readReason(text: string): string {
    return lineIn(text, '--reason');
  }

  @Option({ flags: '--ticket <id>', description: 'the ticket that asked for this, recorded in the log' })
  readTicket(text: string): string {
    return ticketIn(text);
  }

  @Option({ flags: '--yes', description: 'in production, go on without a confirmation' })
  readYes(): boolean {
    return true;
  }
}

@Injectable()
export class Consent {
  constructor(private readonly process: ProcessSettings) {}

  /**
   * The context of a change to which the operator has consented. `change` completes "This will ...", in lower case, without a full
   * stop.
   * Throws WrongInput when production lacks a reason or a confirmation.
   */
  async given({ reason, ticket, yes = false }: ConsentValues, change: string): Promise<ActionContext> {
    if (!this.process.production) return operatorContext(reason ?? NO_REASON, ticket);
    if (reason === undefined) throw new WrongInput(`This will ${change}. In production it needs --reason <text>.`);
    if (!yes && !(await isConfirmed(change)))
      throw new WrongInput(
        `This would ${change}. Nothing was changed: production needs --yes, or "yes" on a terminal.`,
      );
    return operatorContext(reason, ticket);
  }
}

async function isConfirmed(change: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  // Standard output contains only results.
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`This will ${change}. Type yes to go on: `)).trim().toLowerCase() === 'yes';
  } finally {
    terminal.close();
  }
}
