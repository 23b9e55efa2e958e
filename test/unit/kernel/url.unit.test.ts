import { expect, it } from '@jest/globals';
import { urlIn } from '../../../src/kernel/url.js';

it('an international name stays a URL however often URLs are read, and other text gives null', () => {
  let refused = 0;
  for (let time = 0; time < 20_000; time++) if (urlIn('https://bücher.example/') === null) refused += 1;
  expect(refused).toBe(0);
  expect(urlIn('https://bücher.example/')?.hostname).toBe('xn--bcher-kva.example');
  expect(urlIn('/path', 'https://a.example/b')?.href).toBe('https://a.example/path');
  expect(urlIn('no address')).toBeNull();
});
