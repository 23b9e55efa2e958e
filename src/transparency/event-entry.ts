// The entry of an event in the tree: 64 bytes that reveal nothing about the event.
import { hash } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.js';
import type { RecordedEvent } from '../kernel/domain-event.js';

/** RFC 8785 JSON of the event as stored. The position is omitted, because the event's index in the tree replaces it and a copied log has others. */
export function canonicalEvent({ data, id, metadata, revision, stream, type }: RecordedEvent): string {
  return canonicalJson({ data, id, metadata, revision, stream, type });
}

export function entryOf(event: RecordedEvent, caseTag: Buffer): Buffer {
  return Buffer.concat([caseTag, hash('sha256', canonicalEvent(event), 'buffer')]);
}
