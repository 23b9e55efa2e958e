// The number of remaining attempts of a person, in words.
import type { Language } from '../../../contract/language.js';
import type { Session } from '../../api/wire.js';
import { fill } from '../../parts/language.js';
import { STEP_UP } from './texts.js';

export function attemptsText(language: Language, { attemptsRemaining }: Pick<Session, 'attemptsRemaining'>): string {
  const texts = STEP_UP[language];
  if (attemptsRemaining === undefined) return '';
  return attemptsRemaining === 1 ? texts.attemptsOne : fill(texts.attemptsMany, { count: attemptsRemaining });
}
