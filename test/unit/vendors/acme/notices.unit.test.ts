// The reader of the notices of acme.
import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../../src/kernel/ids.js';
import { noticeReader, referenceOf } from '../../../../src/vendors/acme/notices.js';

const NOW = new Date('2026-03-01T12:00:00Z');
const ID = `ntc_${'0'.repeat(32)}`;
const aggregateId = newId();
const reference = referenceOf({
  environment: 'live',
  aggregateId,
  attemptId: newId(),
  correlationId: newId(),
  subject: null,
});
const NOTICE = { id: ID, type: 'verification.decided', verification: 'ver_1', reference };
const read = noticeReader(['new secret', 'old secret']);

function request(body: unknown, { secret = 'new secret', at = NOW, now = NOW, tail = '' } = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const timestamp = Math.floor(at.getTime() / 1_000);
  const signature = createHmac('sha256', secret).update(`${timestamp}.${text}`).digest('hex');
  return { body: Buffer.from(text + tail), headers: { 'acme-signature': `t=${timestamp},v1=${signature}` }, now };
}
const told = { capability: 'identity', eventId: ID, environment: 'live', aggregateId };

describe('a notice of acme', () => {
  it.each(['new secret', 'old secret'])('names the session when it is signed with the %s', (secret) => {
    expect(read(request(NOTICE, { secret }))).toEqual(told);
  });

  it('names the income session when an income check has moved on', () => {
    expect(read(request({ ...NOTICE, type: 'income_check.moved' }))).toEqual({ ...told, capability: 'income' });
  });

  it.each([
    ['another secret', request(NOTICE, { secret: 'another' })],
    ['a changed body', request(NOTICE, { tail: ' ' })],
    ['an old signature', request(NOTICE, { at: new Date(NOW.getTime() - 301_000) })],
    ['a signature of the future', request(NOTICE, { at: new Date(NOW.getTime() + 301_000) })],
    ['no signature', { ...request(NOTICE), headers: {} }],
    ['two signatures', { ...request(NOTICE), headers: { 'acme-signature': ['a', 'b'] } }],
    ['half a signature', { ...request(NOTICE), headers: { 'acme-signature': 't=1772366400,v1=00' } }],
    ['a body that is not JSON', request('{')],
    ['another type', request({ ...NOTICE, type: 'verification.opened' })],
    ['no reference', request({ ...NOTICE, reference: null })],
    ['a reference of no environment', request({ ...NOTICE, reference: `other.${aggregateId}` })],
  ])('is not read with %s', (_what, one) => {
    expect(read(one)).toBeNull();
  });
});
