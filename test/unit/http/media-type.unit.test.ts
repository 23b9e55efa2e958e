import { describe, expect, it } from '@jest/globals';
import { acceptedType } from '../../../src/platform/http/media-type.js';
import { refusalOf } from '../../support/decider.js';

const OFFERED = ['application/json', 'text/html'] as const;

describe('content negotiation', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/*', 'text/html'],
    ['text/html', 'text/html'],
    ['TEXT/HTML', 'text/html'],
    ['application/json; charset=UTF-8', 'application/json'],
    ['text/html;charset="utf-8"', 'text/html'],
    ['text/html;q=0.5, application/json;q=0.4', 'text/html'],
    ['text/html;q=0.4, application/json;q=0.5', 'application/json'],
    ['application/json;q=0, */*', 'text/html'],
    ['text/html;q=0, */*;q=0.1', 'application/json'],
    ['image/png, text/html;q=0.1', 'text/html'],
    // Browsers send this header.
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8', 'text/html'],
  ])('%j gets %s', (accept, type) => {
    expect(acceptedType(accept, OFFERED)).toBe(type);
  });

  it.each([
    'text/plain',
    'application/pdf',
    'image/*',
    'application/json;q=0',
    '*/*;q=0',
    'application/json;q=0, text/html;q=0.0',
    'text/html;level=1',
    'nonsense',
    ',',
    'application/json;charset=latin1',
  ])('%j is refused, because it matches no offered type', (accept) => {
    expect(refusalOf(() => acceptedType(accept, OFFERED)).code).toBe('request.not_acceptable');
  });
});
