import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Allow, IsIn, IsInt, IsObject, IsOptional, IsString, Matches, MinLength } from 'class-validator';
import {
  BodyPipe,
  IsMailAddress,
  means,
  NullCounts,
  Rule,
  TakesAnything,
} from '../../../src/platform/http/body-pipe.js';
import { readBody, refusedBody } from '../../support/bodies.js';
import { REAL_WORLD } from '../../support/real-world.js';
import { clockOf } from '../../support/clock.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');

class Order {
  @Matches(/^[a-z]+$/, means('screening.field_format', 'must be letters'))
  @Matches(/\S/, { message: 'must not be blank' })
  @IsString({ message: 'must be a string' })
  readonly name!: string;

  // This rule requires a whole number. The rule below checks that first.
  @Rule((count: number, _, now) => count <= now.getUTCFullYear(), means('screening.minor', 'is too much'))
  @IsInt({ message: 'must be a whole number' })
  readonly count!: number;

  @IsOptional()
  @IsIn(['red', 'blue'], means('screening.field_format', 'must be red or blue'))
  readonly colour?: string;

  @IsOptional()
  @MinLength(2, { message: 'must have two characters' })
  readonly note?: string;
}

const read = (body: unknown): Promise<Order> => readBody(Order, body, NOW);
const faults = async (body: unknown): Promise<unknown> => {
  const { code: condition, detail } = await refusedBody(Order, body, NOW);
  return [condition, detail.field, detail.details?.map(({ field, message }) => `${field} ${message}`)];
};

describe('a checked body', () => {
  it('keeps only the documented fields, as an instance of its class', async () => {
    const body = await read({ name: 'a', count: 1, colour: 'red', other: { deep: [] } });
    expect(body).toBeInstanceOf(Order);
    expect(body).toEqual({ name: 'a', count: 1, colour: 'red' });
  });

  it('treats null as absent', async () => {
    expect(await read({ name: 'a', count: 1, colour: null, note: undefined })).toEqual({ name: 'a', count: 1 });
    expect(await faults({ name: null, count: 1 })).toEqual(['request.invalid', 'name', ['name must be a string']]);
  });

  it('is refused without a field name when it is not an object', async () => {
    for (const body of [undefined, null, [], [{}], 'x', 0, true])
      expect(await faults(body)).toEqual(['request.invalid', undefined, undefined]);
  });

  it('reports the first broken rule of each field, and the fields in documented order', async () => {
    expect(await faults({ colour: 'green', count: 'x' })).toEqual([
      'request.invalid',
      'name',
      ['name must be a string', 'count must be a whole number', 'colour must be red or blue'],
    ]);
    expect(await faults({ colour: 'green', name: '7', count: 1 })).toEqual([
      'screening.field_format',
      'name',
      ['name must be letters', 'colour must be red or blue'],
    ]);
    expect(await faults({ name: 'a', count: 1.5, note: 'x' })).toEqual([
      'request.invalid',
      'count',
      ['count must be a whole number', 'note must have two characters'],
    ]);
  });

  it('distinguishes two rules of the same kind on one field', async () => {
    expect(await faults({ name: ' ', count: 1 })).toEqual(['request.invalid', 'name', ['name must not be blank']]);
    expect(await faults({ name: 'A', count: 1 })).toEqual(['screening.field_format', 'name', ['name must be letters']]);
  });

  it('reports a rule on several fields in documented order, and skips the rule when a field is already wrong', async () => {
    expect(await faults({ name: 'a', count: 2_027, colour: 'green' })).toEqual([
      'screening.minor',
      'count',
      ['count is too much', 'colour must be red or blue'],
    ]);
    expect(await faults({ name: '1', count: 2_027 })).toEqual([
      'screening.field_format',
      'name',
      ['name must be letters', 'count is too much'],
    ]);
    expect(await faults({ name: 'a', count: 'x' })).toEqual([
      'request.invalid',
      'count',
      ['count must be a whole number'],
    ]);
  });

  it('ignores inherited properties', async () => {
    expect(await faults(Object.create({ name: 'a', count: 1 }))).toEqual([
      'request.invalid',
      'name',
      ['name must be a string', 'count must be a whole number'],
    ]);
    expect(await faults(JSON.parse('{"__proto__":{"name":"a"},"count":1}'))).toEqual([
      'request.invalid',
      'name',
      ['name must be a string'],
    ]);
    expect(await read({ name: 'a', count: 1, constructor: 'x', furtherFaults: null, toString: 1 })).toEqual({
      name: 'a',
      count: 1,
    });
  });

  it('drops keys that name a constructor or a prototype, at any depth', async () => {
    class Marked {
      @IsObject()
      readonly marks!: object;
    }
    const marks = { constructor: 'x', prototype: 'y', unit: '4B', deep: { constructor: 'x', floor: 2 } };
    const { marks: kept } = await readBody(Marked, { marks }, NOW);
    expect(JSON.parse(JSON.stringify(kept))).toEqual({ unit: '4B', deep: { floor: 2 } });
  });

  it('may be missing when an empty body is valid', async () => {
    class Wish {
      @IsOptional()
      @IsString({ message: 'must be a string' })
      readonly note?: string;
    }
    for (const body of [undefined, null, {}]) expect(await readBody(Wish, body, NOW)).toEqual({});
    expect((await refusedBody(Wish, [], NOW)).detail).toEqual({ rule: 'The body must be a JSON object.' });
  });

  it('keeps null in a field where null has a meaning', async () => {
    class Change {
      @NullCounts()
      @IsOptional()
      @IsString({ message: 'must be a string' })
      readonly note?: string | null;

      @IsOptional()
      @IsString({ message: 'must be a string' })
      readonly name?: string;
    }
    expect(await readBody(Change, { note: null, name: null }, NOW)).toEqual({ note: null });
  });

  it('may have any content when its class accepts anything, because the domain checks the body later', async () => {
    @TakesAnything()
    class Answer {
      @Allow()
      readonly code?: unknown;
    }
    for (const body of [undefined, null, 'x', [1], {}]) expect(await readBody(Answer, body, NOW)).toEqual({});
    expect(await readBody(Answer, { code: [7], other: 1 }, NOW)).toEqual({ code: [7] });
  });

  it('is passed on unchanged when the route accepts any body', async () => {
    const pipe = new BodyPipe(clockOf(() => NOW));
    expect(await pipe.transform('as it is', { type: 'body', metatype: Object })).toBe('as it is');
  });
});

describe('a mail address', () => {
  class Contact {
    @IsMailAddress({ message: 'must be a mail address' })
    readonly mail!: unknown;
  }

  it.each(REAL_WORLD.mail.taken)('may be %j', async (mail) => {
    expect(await readBody(Contact, { mail }, NOW)).toEqual({ mail });
  });

  it.each([...REAL_WORLD.mail.refused, 'a\ud800@b.co', '\udc00', 'a@b', '', 7, ['a@b.co']])(
    'may not be %j',
    async (mail) => {
      expect((await refusedBody(Contact, { mail }, NOW)).detail.field).toBe('mail');
    },
  );
});
