// The rules read once say what class-validator says, of the body classes of the API.
import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { getMetadataStorage, IsIn, IsString, ValidateIf, validateSync } from 'class-validator';
import fc from 'fast-check';
import { MintGrantBody } from '../../../src/modules/accounts/http/server/grant-bodies.js';
import { OpenIncomeBody } from '../../../src/modules/income/http/platform/open-income-body.js';
import { PartyKbaBody, PartyOtpBody } from '../../../src/modules/parties/http/direct/answer-bodies.js';
import { DeviceBody, RegistrationBody } from '../../../src/modules/parties/http/direct/registration-body.js';
import { CheckoutBody } from '../../../src/modules/payments/http/direct/checkout-bodies.js';
import { LinkBody } from '../../../src/modules/reports/http/direct/link-body.js';
import { PdfBody, ShareBody } from '../../../src/modules/reports/http/platform/report-bodies.js';
import { KbaBody, OtpBody } from '../../../src/modules/screening/http/platform/answer-bodies.js';
import { SubmitBody } from '../../../src/modules/screening/http/platform/submit-body.js';
import { DeliveriesQuery } from '../../../src/modules/webhooks/http/dashboard/deliveries-query.js';
import {
  ChangeEndpointBody,
  CreateEndpointBody,
  RotateSecretBody,
} from '../../../src/modules/webhooks/http/dashboard/endpoint-bodies.js';
import { isSurelyValid } from '../../../src/platform/http/compiled-rules.js';

const CLASSES: readonly Type<object>[] = [
  SubmitBody,
  OtpBody,
  KbaBody,
  RegistrationBody,
  DeviceBody,
  PartyOtpBody,
  PartyKbaBody,
  CheckoutBody,
  PdfBody,
  ShareBody,
  LinkBody,
  MintGrantBody,
  CreateEndpointBody,
  ChangeEndpointBody,
  RotateSecretBody,
  DeliveriesQuery,
];

/** Some are good for some fields. */
const VALUES = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      undefined,
      null,
      '',
      ' ',
      'Ada',
      "O'Neil-Smith",
      '04121990',
      '02301990',
      '666123456',
      '(415) 555-0134',
      'CA',
      'XX',
    ],
    ...['94105', '94105-1234', 'CONSUMER', 'AGENT', 'C', 'ada@example.test', 'https://example.test/hook', 'a\u0000b'],
    ...[
      '2026-03-01T11:59:30Z',
      'x'.repeat(200),
      0,
      1,
      12,
      -1,
      1.5,
      true,
      [],
      [1],
      ['a'],
      {},
      { a: 1 },
      'REAL_ESTATE_AGENT',
    ],
  ),
  fc.string(),
);

const fieldsOf = (type: Type): readonly string[] => [
  ...new Set(
    getMetadataStorage()
      .getTargetValidationMetadatas(type, '', false, false)
      .map(({ propertyName }) => propertyName),
  ),
];

const faultsIn = (body: object): ReturnType<typeof validateSync> =>
  validateSync(body, { stopAtFirstError: true, forbidUnknownValues: false });

describe('rules that were read once', () => {
  it.each(CLASSES.map((type) => [type.name, type] as const))('say of %s what the library says', (_, type) => {
    const fields = fieldsOf(type);
    const seen = { good: 0, bad: 0 };
    // Field by field from what the library takes, so that there are good bodies too.
    const taken = new Map(
      fields.map((field) => [
        field,
        fc.sample(VALUES, 200).filter((value) => {
          const faults = faultsIn(Object.assign(new type(), { [field]: value }));
          return !faults.some(({ property }) => property === field);
        }),
      ]),
    );
    const values = (field: string): fc.Arbitrary<unknown> => {
      const good = taken.get(field) ?? [];
      return good.length === 0 ? VALUES : fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...good) }, VALUES);
    };
    const bodies = fc.record(Object.fromEntries(fields.map((field) => [field, values(field)])));
    fc.assert(
      fc.property(bodies, (given) => {
        const body = Object.assign(new type(), given);
        const valid = faultsIn(body).length === 0;
        seen[valid ? 'good' : 'bad']++;
        expect(isSurelyValid(body)).toBe(valid);
      }),
      { numRuns: 400 },
    );
    if (fields.length < 8) expect(seen.good).toBeGreaterThan(0);
  });

  it('leave to the library what they do not know', () => {
    class Colours {
      @IsIn(['red', 'blue'], { each: true })
      readonly colours = ['red'];
    }
    class Grouped {
      @IsString({ groups: ['some'] })
      readonly name = 'a';
    }
    for (const body of [new Colours(), new Grouped(), new OpenIncomeBody()]) expect(isSurelyValid(body)).toBe(false);
  });

  it('do not check a field whose condition does not hold', () => {
    class Conditional {
      @ValidateIf(({ isNamed }: Conditional) => isNamed)
      @IsString()
      readonly name: unknown = 1;
      isNamed = false;
    }
    const body = new Conditional();
    expect(isSurelyValid(body)).toBe(true);
    body.isNamed = true;
    expect(isSurelyValid(body)).toBe(false);
  });
});
