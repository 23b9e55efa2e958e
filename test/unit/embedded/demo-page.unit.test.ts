// The parts of the demo page that need no browser.
import { expect, it } from '@jest/globals';
import { placeOf } from '../../../web/demo/timeline.js';

const at = (minute: number) => ({ at: new Date(Date.UTC(2026, 0, 1, 12, minute)) });

it.each<[string, number, number]>([
  ['the newest entry', 9, 0],
  ['a webhook of the past that arrives after a newer callback', 4, 1],
  ['an entry with the time of an earlier entry', 3, 1],
  ['the oldest entry', 0, 3],
])('%s gets its place in the list by time', (_, minute, place) => {
  expect(placeOf(at(minute), [at(6), at(3), at(1)])).toBe(place);
});

it('the first entry of an empty list gets the first place', () => {
  expect(placeOf(at(1), [])).toBe(0);
});
