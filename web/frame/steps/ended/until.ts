// Tells a person when a new start is possible.
import type { Journey } from '../../journey.js';
import { fill } from '../../parts/language.js';
import { ENDED } from './texts.js';
import { dayAndTime } from './times.js';

export function untilText({ language, start }: Journey, end: Date): string {
  return fill(ENDED[language].until, { time: dayAndTime(language, [start.locale, ...navigator.languages], end) });
}
