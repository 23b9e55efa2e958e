// The options of commands that list screenings by their facts.
import { Option } from 'nest-commander';
import { OVERALL_STATUSES, type ScreeningFilter, SESSION_STATUSES } from '../modules/screening/read/screening-lists.js';
import { ListingCommand } from './listing.js';
import { oneOf } from './operator.js';

export abstract class ScreeningListing extends ListingCommand {
  @Option({ flags: '--status <status>', description: `of the verification: ${SESSION_STATUSES.join(', ')}` })
  readStatus(text: string): ScreeningFilter['status'] {
    return oneOf(text, SESSION_STATUSES, '--status');
  }

  @Option({ flags: '--overall-status <status>', description: `with the payment: ${OVERALL_STATUSES.join(', ')}` })
  readOverallStatus(text: string): ScreeningFilter['overallStatus'] {
    return oneOf(text, OVERALL_STATUSES, '--overall-status');
  }

  @Option({ flags: '--external-id <id>', description: "the account's own id of the session, with --account" })
  readExternalId(text: string): string {
    return text;
  }
}
