// Tells a person when they may start again.
import type { Journey } from '../../journey.js';
import { fill } from '../../parts/language.js';
import { ENDED } from './texts.js';
import { dayAndTime } from './times.js';

export function untilText({ language, start }: Journey, end: Date): string {
  return fill(ENDED[language].until, { time: dayAndTime(language, [start.locale, ...navigator.languages], end) });
}
