// Half of a surrogate pair cannot be stored or sent on. The service refuses a body with such a half before other code
// reads the body.
import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { wellFormed } from '../../../src/platform/http/readable-body.js';

const read = (json: string): unknown => wellFormed(json, JSON.parse(json));
const fieldOf = (json: string): unknown => {
  const refusal = read(json);
  if (!(refusal instanceof DomainError)) throw new Error('The body was taken');
  expect(refusal.code).toBe('request.invalid');
  return refusal.detail.field;
};

describe('a body with half of a surrogate pair', () => {
  it.each([
    ['a high half', '{"a":"x\\uD83D"}', 'a'],
    ['a low half', '{"a":"\\ude00x"}', 'a'],
    ['two halves in the wrong order', '{"a":"\\ude00\\ud83d"}', 'a'],
    ['a half after a whole pair', '{"a":"😀\\ud83d"}', 'a'],
    ['a half in a list', '{"b":1,"a":["x",["\\ud800"]]}', 'a'],
    ['a half in a nested object', '{"b":"x","a":{"c":{"d":"\\udfff"}}}', 'a'],
    ['a half in the name of a nested field', '{"a":{"\\ud800":1}}', 'a'],
    ['halves in two fields', '{"b":"ok","z":"\\ud800","a":"\\ud800"}', 'z'],
    ['a half in an unknown field', '{"nothing_of-ours.1":"\\ud800"}', 'nothing_of-ours.1'],
  ])('is refused for the field that holds %s', (_, json, field) => expect(fieldOf(json)).toBe(field));

  it.each([
    ['the name of a field', '{"a\\ud800":1}'],
    ['a field whose name is not plain', '{"a b":"\\ud800"}'],
    ['a list', '["\\ud800"]'],
    ['a text', '"\\ud800"'],
  ])('is refused without a field for %s', (_, json) => expect(fieldOf(json)).toBeUndefined());
});

it.each([
  '{"a":"\\ud83d\\ude00"}',
  '{"a":"😀","b":["\\uD83D\\uDE00"]}',
  '"\\ud83d\\ude00"',
  '{"a":"\\\\ud800"}',
  '{"a":"\\ue000"}',
  'null',
  '5',
])('a body of whole characters is accepted unchanged: %s', (json) => expect(read(json)).toEqual(JSON.parse(json)));
