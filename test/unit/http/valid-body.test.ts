import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { IsIn, IsInt, IsOptional, IsString, Matches, MinLength } from 'class-validator';
import {
  means,
  readBody,
  validBody,
  type CheckedBody,
  type FieldFault,
} from '../../../src/platform/http/valid-body.js';
import { refusalOf } from '../../support/decider.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');

class Order implements CheckedBody {
  @Matches(/^[a-z]+$/, means('screening.field_format', 'must be letters'))
  @Matches(/\S/, { message: 'must not be blank' })
  @IsString({ message: 'must be a string' })
  readonly name!: string;

  @IsInt({ message: 'must be a whole number' })
  readonly count!: number;

  @IsOptional()
  @IsIn(['red', 'blue'], means('screening.field_format', 'must be red or blue'))
  readonly colour?: string;

  @IsOptional()
  @MinLength(2, { message: 'must have two characters' })
  readonly note?: string;

  furtherFaults(now: Date, faulty: ReadonlySet<string>): readonly FieldFault[] {
    // Rules of its own may count on what the field rules have made sure of.
    if (faulty.has('count')) return [];
    return this.count > now.getUTCFullYear()
      ? [{ field: 'count', code: 'screening.minor', message: 'is too much' }]
      : [];
  }
}

const read = (body: unknown): Order => readBody(Order, body, NOW);
const faults = (body: unknown): unknown => {
  const { code: condition, detail } = refusalOf(() => read(body));
  return [condition, detail.field, detail.details?.map(({ field, message }) => `${field} ${message}`)];
};

describe('a checked body', () => {
  it('holds the documented fields only, as an instance of its class', () => {
    const body = read({ name: 'a', count: 1, colour: 'red', other: { deep: [] } });
    expect(body).toBeInstanceOf(Order);
    expect(body).toEqual({ name: 'a', count: 1, colour: 'red' });
  });

  it('takes null for absent', () => {
    expect(read({ name: 'a', count: 1, colour: null, note: undefined })).toEqual({ name: 'a', count: 1 });
    expect(faults({ name: null, count: 1 })).toEqual(['request.invalid', 'name', ['name must be a string']]);
  });

  it('is refused without a field when it is no object', () => {
    for (const body of [undefined, null, [], [{}], 'x', 0, true])
      expect(faults(body)).toEqual(['request.invalid', undefined, undefined]);
  });

  it('names the first broken rule of each field, and the first field in documented order', () => {
    expect(faults({ colour: 'green', count: 'x' })).toEqual([
      'request.invalid',
      'name',
      ['name must be a string', 'count must be a whole number', 'colour must be red or blue'],
    ]);
    expect(faults({ colour: 'green', name: '7', count: 1 })).toEqual([
      'screening.field_format',
      'name',
      ['name must be letters', 'colour must be red or blue'],
    ]);
    expect(faults({ name: 'a', count: 1.5, note: 'x' })).toEqual([
      'request.invalid',
      'count',
      ['count must be a whole number', 'note must have two characters'],
    ]);
  });

  it('tells two rules of one kind on one field apart', () => {
    expect(faults({ name: ' ', count: 1 })).toEqual(['request.invalid', 'name', ['name must not be blank']]);
    expect(faults({ name: 'A', count: 1 })).toEqual(['screening.field_format', 'name', ['name must be letters']]);
  });

  it('sorts rules over several fields into the documented order, and spares them fields that are wrong already', () => {
    expect(faults({ name: 'a', count: 2_027, colour: 'green' })).toEqual([
      'screening.minor',
      'count',
      ['count is too much', 'colour must be red or blue'],
    ]);
    expect(faults({ name: '1', count: 2_027 })).toEqual([
      'screening.field_format',
      'name',
      ['name must be letters', 'count is too much'],
    ]);
    expect(faults({ name: 'a', count: 'x' })).toEqual(['request.invalid', 'count', ['count must be a whole number']]);
  });

  it('takes nothing from prototypes', () => {
    expect(faults(Object.create({ name: 'a', count: 1 }))).toEqual([
      'request.invalid',
      'name',
      ['name must be a string', 'count must be a whole number'],
    ]);
    expect(faults(JSON.parse('{"__proto__":{"name":"a"},"count":1}'))).toEqual([
      'request.invalid',
      'name',
      ['name must be a string'],
    ]);
    expect(read({ name: 'a', count: 1, constructor: 'x', furtherFaults: null, toString: 1 })).toEqual({
      name: 'a',
      count: 1,
    });
  });

  it('is read by the pipe of its class', () => {
    const Pipe = validBody(Order);
    expect(new Pipe().transform({ name: 'a', count: 1 }, { type: 'body' })).toBeInstanceOf(Order);
    expect(refusalOf(() => new Pipe().transform({}, { type: 'body' })).code).toBe('request.invalid');
  });
});
