// A session that is over without success: why, and what the person can do next.
import type { Session } from '../../api/wire.js';
import type { Language, StepProps } from '../../journey.js';
import { fill, useTexts } from '../../parts/language.js';
import { Button, StepFrame } from '../../parts/step.js';
import { ENDED } from './texts.js';
import { dayAndTime, endOf } from './times.js';

export function Ended({ journey }: StepProps) {
  const texts = useTexts(ENDED);
  const { session, language } = journey;
  if (!session) return null;
  const { title, lead } = reasonOf(session, language);
  const end = endOf(session, Date.now());
  return (
    <StepFrame title={title} lead={lead}>
      {end === 'never' && <p>{texts.noEnd}</p>}
      {end instanceof Date && (
        <p>{fill(texts.until, { time: dayAndTime(language, [journey.start.locale, ...navigator.languages], end) })}</p>
      )}
      {end === 'over' && <Button onPress={() => journey.next()}>{texts.startAgain}</Button>}
    </StepFrame>
  );
}

function reasonOf(
  { status, reasonCode, blockedUntil }: Session,
  language: Language,
): { readonly title: string; readonly lead: string } {
  const texts = ENDED[language];
  if (status === 'EXPIRED') return { title: texts.expired, lead: texts.expiredLead };
  if (status !== 'BLOCKED') return { title: texts.error, lead: texts.errorLead };
  // Only a block for wrong answers has an end.
  if (blockedUntil) return { title: texts.attempts, lead: texts.attemptsLead };
  switch (reasonCode) {
    case 'IDENTITY_NOT_FOUND':
      return { title: texts.notFound, lead: texts.notFoundLead };
    case 'MINOR_CONSUMER':
      return { title: texts.minor, lead: texts.minorLead };
    // What else was found about a person is not for a screen that others may see.
    default:
      return { title: texts.blocked, lead: texts.blockedLead };
  }
}
