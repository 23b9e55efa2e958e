// The options of commands that list, page by page, the newest first.
import { Option } from 'nest-commander';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import type { ListPart } from '../ports/list-part.js';
import type { Cursor } from '../ports/read-models.js';
import { idIn, oneOf, timeIn, wholeNumber, WrongInput } from './operator.js';
import { ShowingCommand } from './operator-command.js';

const PAGE = 20;
const LARGEST_PAGE = 1_000;

export interface PageValues {
  readonly account?: string;
  readonly limit?: number;
  readonly cursor?: Cursor;
}

export abstract class PagedCommand extends ShowingCommand {
  @Option({ flags: '--account <account>', description: 'only of this account' })
  readAccount(text: string): string {
    return idIn(text, 'account');
  }

  @Option({ flags: '--limit <number>', description: `size of the page, ${PAGE} if not given, at most ${LARGEST_PAGE}` })
  readLimit(text: string): number {
    return limitIn(text);
  }

  @Option({ flags: '--cursor <cursor>', description: 'the next page, as the page before names it' })
  readCursor(text: string): Cursor {
    return cursorIn(text);
  }
}

export interface ListingValues extends PageValues {
  readonly environment?: Environment;
  readonly from?: Date;
  readonly to?: Date;
}

/** A list of one environment or both, ordered by the time when its things were made. */
export abstract class ListingCommand extends PagedCommand {
  @Option({ flags: '--environment <environment>', description: 'only test or only live' })
  readEnvironment(text: string): Environment {
    return oneOf(text, ENVIRONMENTS, '--environment');
  }

  @Option({ flags: '--from <time>', description: 'made at this time or later (ISO 8601 with a zone)' })
  readFrom(text: string): Date {
    return timeIn(text, '--from');
  }

  @Option({ flags: '--to <time>', description: 'made before this time (ISO 8601 with a zone)' })
  readTo(text: string): Date {
    return timeIn(text, '--to');
  }
}

export function listPart({ from, to, cursor, limit = PAGE }: ListingValues): ListPart {
  if (from && to && from >= to) throw new WrongInput('--from must be before --to.');
  return { after: cursor ?? null, from: from?.toISOString() ?? null, to: to?.toISOString() ?? null, limit };
}

/** The page of a list that the ids of its things order. */
export function idPart({ cursor, limit = PAGE }: PageValues): {
  readonly before: string | null;
  readonly limit: number;
} {
  return { before: cursor?.id ?? null, limit };
}

export function limitIn(text: string): number {
  const limit = wholeNumber(text, '--limit');
  if (limit === 0) throw new WrongInput('--limit must be at least 1.');
  return Math.min(limit, LARGEST_PAGE);
}

export function cursorIn(text: string): Cursor {
  const [, sort, id] = /^([^ ]*) ([^ ]+)$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (sort === undefined || id === undefined)
    throw new WrongInput('--cursor must be one that a page of this list named.');
  return { sort, id };
}

/** Said on stderr, because the results hold nothing but the listed things. */
export function tellNext(next: Cursor | null, total: number | null = null): void {
  if (next === null) return;
  const cursor = Buffer.from(`${next.sort} ${next.id}`).toString('base64url');
  const all = total === null ? '' : `, ${total} in all`;
  process.stderr.write(`There are more${all}. The next page: --cursor ${cursor}\n`);
}
