// A session that ended without success: the reason, and the next steps.
import { useEffect, useState } from 'preact/hooks';
import type { Language } from '../../../contract/language.js';
import type { Session } from '../../api/wire.js';
import type { StepProps } from '../../journey.js';
import { fill, useTexts } from '../../parts/language.js';
import { Leave } from '../../parts/leave.js';
import type { Kind } from '../../parts/sign.js';
import { Button, StepFrame } from '../../parts/step.js';
import { Support } from '../../parts/support.js';
import { ENDED } from './texts.js';
import { endOf } from './times.js';
import { untilText } from './until.js';

/** The longest time that a timer supports. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function Ended({ journey }: StepProps) {
  const texts = useTexts(ENDED);
  const { session, language } = journey;
  const [now, setNow] = useState(Date.now);
  const end = session && endOf(session, now);
  useEffect(() => {
    if (!(end instanceof Date)) return;
    const timer = setTimeout(() => setNow(Date.now()), Math.min(end.getTime() - now, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  }, [now]);
  if (!session) return null;
  const { sign, title, lead } = reasonOf(session, language);
  return (
    <StepFrame sign={end instanceof Date ? 'wait' : sign} title={title} lead={lead}>
      {end === 'never' && <p>{fill(texts.noEnd, { account: journey.account })}</p>}
      {end instanceof Date && <p>{untilText(journey, end)}</p>}
      {end === 'over' ? (
        <Button onPress={() => journey.next()}>{texts.startAgain}</Button>
      ) : (
        <Leave journey={journey} early />
      )}
      <Support contact={journey.options.support} />
    </StepFrame>
  );
}

function reasonOf(
  { status, reasonCode, blockedUntil }: Session,
  language: Language,
): { readonly sign: Kind; readonly title: string; readonly lead: string } {
  const texts = ENDED[language];
  if (status === 'EXPIRED') return { sign: 'wait', title: texts.expired, lead: texts.expiredLead };
  if (status !== 'BLOCKED') return { sign: 'stopped', title: texts.error, lead: texts.errorLead };
  // Only a block after wrong answers ends by itself.
  if (blockedUntil) return { sign: 'stopped', title: texts.attempts, lead: texts.attemptsLead };
  switch (reasonCode) {
    case 'IDENTITY_NOT_FOUND':
      return { sign: 'unknown', title: texts.notFound, lead: texts.notFoundLead };
    case 'MINOR_CONSUMER':
      return { sign: 'stopped', title: texts.minor, lead: texts.minorLead };
    // Other facts about a person must not appear on a screen that others may see.
    default:
      return { sign: 'stopped', title: texts.blocked, lead: texts.blockedLead };
  }
}
