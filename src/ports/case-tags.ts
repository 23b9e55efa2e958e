import type { RecordedEvent } from '../kernel/domain-event.js';
import type { EventStore } from './event-store.js';

/** 32 bytes that name the case of an event. A reader without the log cannot derive them. */
export type TagOf = (event: RecordedEvent) => Promise<Buffer>;

/** The tag of an event of no case, or of a stream that several cases share. */
export const NO_CASE = Buffer.alloc(32);

/**
 * A case is one screening. Its tag is SHA-256 over the salt (32 bytes) of the screening's person and the screening's id in UTF-8. The first salt in
 * the person's stream is the salt of the person for ever, so the tag of an event never changes.
 */
export abstract class CaseTags {
  /** `records`: a person without a salt gets one in this log. Otherwise events of the person's cases have no case. */
  abstract of(store: EventStore, options: { readonly records: boolean }): TagOf;
}
