// Pages of lists that servers read of their own account and of its direct children.
import type { Environment } from '../kernel/environment.js';

/** The place of an entry in a list. */
export interface ListPlace {
  readonly sort: string;
  readonly id: string;
}

/** A page as a server asks for it. Times are ISO 8601 UTC. */
export interface AskedPage {
  readonly caller: { readonly accountId: string; readonly environment: Environment };
  /** The account whose list is read. Null stands for the caller's own. */
  readonly account: string | null;
  /** Names the list and its filters. A cursor belongs to one list, one caller and one account. */
  readonly list: string;
  readonly cursor: string | null;
  /** The earliest time. Null if the time has no bound. */
  readonly from: string | null;
  /** Entries are listed if they are earlier than this time. Null if the time has no bound. */
  readonly to: string | null;
  readonly limit: number;
}

/** The owner of a list, and the part of it that is read. */
export interface ListRead {
  readonly owner: { readonly account: string; readonly environment: Environment };
  readonly part: Pick<AskedPage, 'from' | 'to' | 'limit'> & { readonly after: ListPlace | null };
}

export interface ReadPage<Listed> {
  readonly items: readonly Listed[];
  readonly total: number;
  /** Null at the end. */
  readonly next: ListPlace | null;
}

export interface ListReply<Item> {
  readonly object: 'list';
  readonly data: Item[];
  /** Null at the end. */
  readonly next_cursor: string | null;
  readonly total: number;
}

/** The accounts module, for the list routes of other modules. */
export abstract class AccountLists {
  /**
   * Reads the page, and then shows its items, several at a time. Throws `request.not_found` for an account that is not the caller's or a direct
   * child, and `request.invalid` for a cursor of another list.
   */
  abstract page<Listed, Item>(
    asked: AskedPage,
    read: (from: ListRead) => Promise<ReadPage<Listed>>,
    show: (listed: Listed) => Item | Promise<Item>,
  ): Promise<ListReply<Item>>;
}
