// The test computes the hash chain like an auditor, without the code of the service
// (docs/architecture.md#the-hash-chain).
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { genesisOf, linkTo, type ChainedContent } from '../../../src/platform/audit/chain.js';

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');
const CONTENT: ChainedContent = {
  id: '0190a6d0-0000-7000-8000-000000000001',
  type: 'FeeSet',
  stream: 'account-0190a6d0-0000-7000-8000-000000000002',
  revision: 3,
  data: { feeCents: 3_500, note: 'caf\u00e9 \u20ac', b: [1, { z: true, a: null }], a: 1e21 },
  metadata: {
    schemaVersion: 1,
    accountId: '0190a6d0-0000-7000-8000-000000000002',
    environment: null,
    occurredAt: '2026-03-01T12:00:00.000Z',
    $correlationId: 'request-1',
    $causationId: 'request-1',
    actor: { kind: 'operator', id: 'ops' },
  },
};
const PREV = genesisOf(CONTENT.stream);

describe('the hash chain', () => {
  it("begins with the hash of the stream's name", () => {
    expect(genesisOf('account-1')).toBe(sha256('account-1'));
  });

  it('hashes the previous hash and the event without its chain, as RFC 8785 JSON', () => {
    const canonical =
      '{"data":{"a":1e+21,"b":[1,{"a":null,"z":true}],"feeCents":3500,"note":"caf\u00e9 \u20ac"},"id":"0190a6d0-0000-7000-8000-000000000001","metadata":{"$causationId":"request-1","$correlationId":"request-1",' +
      '"accountId":"0190a6d0-0000-7000-8000-000000000002","actor":{"id":"ops","kind":"operator"},"environment":null,"occurredAt":"2026-03-01T12:00:00.000Z","schemaVersion":1},' +
      `"prev":"${PREV}","revision":3,"stream":"account-0190a6d0-0000-7000-8000-000000000002","type":"FeeSet"}`;
    expect(linkTo(PREV, CONTENT)).toEqual({ alg: 'sha-256', prev: PREV, hash: sha256(canonical) });
  });

  it('does not depend on the order of keys, which a store may change', () => {
    const turned = JSON.parse(
      JSON.stringify(CONTENT, (_key, value: unknown) =>
        value && typeof value === 'object' && !Array.isArray(value)
          ? Object.fromEntries(Object.entries(value).reverse())
          : value,
      ),
    ) as ChainedContent;
    expect(linkTo(PREV, turned)).toEqual(linkTo(PREV, CONTENT));
  });

  it('does not depend on the chain fields and the position of the stored event', () => {
    const stored = {
      ...CONTENT,
      position: '17',
      metadata: { ...CONTENT.metadata, chain: { alg: 'sha-256', prev: 'x', hash: 'y' } },
    };
    const { chain: _, ...metadata } = stored.metadata;
    expect(linkTo(PREV, { ...stored, metadata } as ChainedContent)).toEqual(linkTo(PREV, CONTENT));
  });

  it('changes with every part of the event and with the previous hash', () => {
    const others: ChainedContent[] = [
      { ...CONTENT, id: '0190a6d0-0000-7000-8000-000000000009' },
      { ...CONTENT, type: 'FeeSet.v2' },
      { ...CONTENT, stream: 'account-1' },
      { ...CONTENT, revision: 4 },
      { ...CONTENT, data: { ...CONTENT.data, feeCents: 3_501 } },
      { ...CONTENT, data: { ...CONTENT.data, extra: null } },
      { ...CONTENT, metadata: { ...CONTENT.metadata, accountId: null } },
      { ...CONTENT, metadata: { ...CONTENT.metadata, environment: 'live' } },
      { ...CONTENT, metadata: { ...CONTENT.metadata, occurredAt: '2026-03-01T12:00:00.001Z' } },
      { ...CONTENT, metadata: { ...CONTENT.metadata, schemaVersion: 2 } },
      { ...CONTENT, metadata: { ...CONTENT.metadata, $correlationId: 'request-2' } },
      { ...CONTENT, metadata: { ...CONTENT.metadata, $causationId: 'request-2' } },
      { ...CONTENT, metadata: { ...CONTENT.metadata, actor: { kind: 'operator', id: 'other' } } },
      { ...CONTENT, metadata: { ...CONTENT.metadata, actor: { kind: 'system', id: 'ops' } } },
    ];
    const hashes = [
      linkTo(PREV, CONTENT),
      linkTo(sha256('else'), CONTENT),
      ...others.map((other) => linkTo(PREV, other)),
    ].map(({ hash }) => hash);
    expect(new Set(hashes).size).toBe(others.length + 2);
  });

  it('refuses a value that JSON cannot express', () => {
    expect(() => linkTo(PREV, { ...CONTENT, data: { value: Number.NaN } })).toThrow();
    expect(() => linkTo(PREV, { ...CONTENT, data: { value: Number.POSITIVE_INFINITY } })).toThrow();
  });
});
