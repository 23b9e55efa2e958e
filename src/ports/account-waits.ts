import { together } from '../kernel/together.js';

const READ_TOGETHER = 16;

/** Something that an object of an account does at a time of the account's clock. */
export interface Wait {
  /** The object and its kind. */
  readonly id: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Does what is due, and returns what the object and its consequences wait for now. Safe to repeat. */
  settle(): Promise<readonly Wait[]>;
}

/** A kind of waits of test accounts. No timer of the machine ends these waits in time when the account has turned its clock. */
export class AccountWaits {
  constructor(
    /**
     * The waits in the account's test environment that its clock has passed, in any order, and perhaps later ones. `most`: a reader that only asks whether
     * there is one needs no more. Throws Unavailable while the lists are behind the log.
     */
    readonly of: (accountId: string, most?: number) => Promise<readonly Wait[]>,
  ) {}
}

/** Objects of one kind that each wait for one thing at most. When that has happened, they wait for nothing more. */
export interface WaitingObjects {
  readonly kind: string;
  readonly ids: readonly string[];
  /** When the object does what it waits for (ISO 8601 UTC); null: it waits for nothing. */
  readonly at: (id: string) => Promise<string | null>;
  readonly settle: (id: string) => Promise<unknown>;
}

export async function waitsOf({ kind, ids, at, settle }: WaitingObjects): Promise<readonly Wait[]> {
  const waits: Wait[] = [];
  await together([...ids], READ_TOGETHER, async (id) => {
    const time = await at(id);
    if (time !== null) waits.push({ id: `${kind} ${id}`, at: time, settle: async () => (await settle(id), []) });
  });
  return waits;
}
