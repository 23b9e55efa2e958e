// The hash chain of a stream (docs/architecture.md#the-hash-chain). Written on append, checked by `ops audit verify`.
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ChainLink, EventMetadata } from '../../kernel/domain-event.js';

/** What a link covers: everything but the chain itself. */
export interface ChainedContent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly data: object;
  readonly metadata: Omit<EventMetadata, 'chain'>;
}

/** `prev` of a stream's first event. */
export function genesisOf(stream: string): string {
  return createHash('sha256').update(stream).digest('hex');
}

/** SHA-256 over the previous hash and the RFC 8785 canonical JSON of the content, lowercase hex. */
export function linkTo(prev: string, content: ChainedContent): ChainLink {
  const { id, type, stream, revision, data, metadata } = content;
  const canonical = canonicalize({ id, type, stream, revision, data, metadata, prev });
  if (canonical === undefined) throw new TypeError('An event must be a JSON object to be chained');
  return { alg: 'sha-256', prev, hash: createHash('sha256').update(canonical).digest('hex') };
}
