import { expect, it } from '@jest/globals';
import { languageOf } from '../../../web/contract/language.js';

it.each<[(string | null)[], string]>([
  [['es'], 'es'],
  [['ES-us', 'en'], 'es'],
  [['en-US', 'es'], 'en'],
  [['fr', 'es-MX', 'en'], 'es'],
  [[null, 'es'], 'es'],
  // Estonian.
  [['est'], 'en'],
  [['', 'fr'], 'en'],
  [[], 'en'],
])('who wants %j reads %s', (wanted, language) => {
  expect(languageOf(wanted)).toBe(language);
});
