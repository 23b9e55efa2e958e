// Reads the notices of acme about decisions of people, and about income checks that have moved on. vendor.ts gives the reader to the service.
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { ENVIRONMENTS } from '../../kernel/environment.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { NoticeReader } from '../../ports/vendor-notices.js';
import { answerOf } from '../../vendor-kit/http/answer.js';
import { read, textLike } from '../../vendor-kit/reading.js';

const TOLERANCE_SECONDS = 300;

const notice = v.object({
  id: textLike(/^ntc_[0-9a-f]{32}$/),
  type: v.picklist(['verification.decided', 'verification.moved', 'income_check.moved']),
  reference: v.pipe(
    textLike(/^[a-z]+\.[0-9a-f-]{36}$/),
    v.transform((reference) => reference.split('.')),
    v.tuple([v.picklist(ENVIRONMENTS), v.string()]),
  ),
});

/** The service's name for a verification, which the notice repeats. Undefined for a call of no aggregate. */
export function referenceOf({ environment, aggregateId }: VendorCall): string | undefined {
  return aggregateId && `${environment}.${aggregateId}`;
}

/** While a secret is being replaced, several secrets are valid. */
export function noticeReader(secrets: readonly string[]): NoticeReader {
  return ({ body, headers: { 'acme-signature': signature }, now }) => {
    const [, timestamp, given] =
      (typeof signature === 'string' && /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature)) || [];
    if (timestamp === undefined || given === undefined) return null;
    if (Math.abs(now.getTime() / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS) return null;
    const isSigned = secrets.some((secret) => {
      const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
      return timingSafeEqual(expected, Buffer.from(given, 'hex'));
    });
    const said = isSigned ? read(notice, answerOf(200, new TextDecoder().decode(body)).body) : null;
    if (said === null) return null;
    const [environment, aggregateId] = said.reference;
    const capability = said.type === 'income_check.moved' ? 'income' : 'identity';
    return { capability, eventId: said.id, environment, aggregateId };
  };
}
