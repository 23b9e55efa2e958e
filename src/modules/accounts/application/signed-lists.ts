import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { together } from '../../../kernel/together.js';
import { Vault } from '../../../ports/vault.js';
import {
  AccountLists,
  type AskedPage,
  type ListPlace,
  type ListRead,
  type ListReply,
  type ReadPage,
} from '../../../published/account-lists.js';
import { Accounts } from '../../../published/accounts.js';

const SIGNATURE_BYTES = 16;
/** The number of items that are shown at the same time. */
const SHOWN_TOGETHER = 16;

/** The cursors of these lists are signed, so that a caller can only continue a list that it has read. */
@Injectable()
export class SignedLists extends AccountLists {
  constructor(
    private readonly accounts: Accounts,
    private readonly vault: Vault,
  ) {
    super();
  }

  override async page<Listed, Item>(
    asked: AskedPage,
    read: (from: ListRead) => Promise<ReadPage<Listed>>,
    show: (listed: Listed) => Item | Promise<Item>,
  ): Promise<ListReply<Item>> {
    const { caller, from, to, limit } = asked;
    const account = asked.account ?? caller.accountId;
    if (!(await this.accounts.mayRead(caller.accountId, account))) throw new DomainError('request.not_found');
    const list = JSON.stringify([caller.accountId, caller.environment, account, from, to, asked.list]);
    const after = asked.cursor === null ? null : await this.placeOf(list, asked.cursor);
    const owner = { account, environment: caller.environment };
    const { items, total, next } = await read({ owner, part: { after, from, to, limit } });
    const shown = new Map<Listed, Item>();
    await together(items, SHOWN_TOGETHER, async (item) => shown.set(item, await show(item)));
    return {
      object: 'list',
      data: items.flatMap((item) => shown.get(item) ?? []),
      next_cursor: next === null ? null : await this.cursorOf(list, next),
      total,
    };
  }

  /** The base64url text of a signature and a place. */
  private async cursorOf(list: string, { sort, id }: ListPlace): Promise<string> {
    const place = `${sort} ${id}`;
    return Buffer.concat([await this.signature(list, place), Buffer.from(place)]).toString('base64url');
  }

  private async placeOf(list: string, cursor: string): Promise<ListPlace> {
    const bytes = Buffer.from(cursor, 'base64url');
    const given = bytes.subarray(0, SIGNATURE_BYTES);
    const place = bytes.subarray(SIGNATURE_BYTES).toString();
    const right = await this.signature(list, place);
    // Several texts decode to the same bytes. Only one of them is a cursor.
    const isCursor = given.length === right.length && bytes.toString('base64url') === cursor;
    if (!isCursor || !timingSafeEqual(given, right)) {
      const [field, message] = ['cursor', 'must be the next_cursor of a page with the same filters'];
      throw new DomainError('request.invalid', { field, details: [{ field, message }] });
    }
    const [sort = '', id = ''] = place.split(' ');
    return { sort, id };
  }

  private async signature(list: string, place: string): Promise<Buffer> {
    const key = await this.vault.installationKey('list-cursors');
    return createHmac('sha256', key)
      .update(JSON.stringify([list, place]))
      .digest()
      .subarray(0, SIGNATURE_BYTES);
  }
}
