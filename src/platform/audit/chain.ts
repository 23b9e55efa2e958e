// The hash chain of a stream (docs/architecture.md#the-hash-chain). An append writes the chain, and `ops audit verify` checks the chain.
import { hash } from 'node:crypto';
import type { ChainLink, EventMetadata } from '../../kernel/domain-event.js';
import { canonicalJson } from '../../kernel/canonical-json.js';

/** The content of a link: the whole event except the chain itself. */
export interface ChainedContent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly data: object;
  readonly metadata: Omit<EventMetadata, 'chain'> & { readonly chain?: undefined };
}

/** The value of `prev` in a stream's first event. */
export function genesisOf(stream: string): string {
  return hash('sha256', stream);
}

/** SHA-256 over the previous hash and the RFC 8785 canonical JSON of the content, lowercase hex. */
export function linkTo(prev: string, content: ChainedContent): ChainLink {
  const { data, id, metadata, revision, stream, type } = content;
  const canonical = canonicalJson({ data, id, metadata, prev, revision, stream, type });
  return { alg: 'sha-256', prev, hash: hash('sha256', canonical) };
}
