import { expect, it } from '@jest/globals';
import { languageOf } from '../../../web/contract/language.js';

it.each<[(string | null)[], string]>([
  [['es'], 'es'],
  [['ES-us', 'en'], 'es'],
  [['en-US', 'es'], 'en'],
  [['fr', 'es-MX', 'en'], 'es'],
  [[null, 'es'], 'es'],
  // The language tag of Estonian begins with the same letters as that of Spanish.
  [['est'], 'en'],
  [['', 'fr'], 'en'],
  [[], 'en'],
])('a browser with the languages %j gets %s', (wanted, language) => {
  expect(languageOf(wanted)).toBe(language);
});
