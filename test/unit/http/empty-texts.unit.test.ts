// An optional text that is empty counts as missing, in every body and query of every surface
// (docs/contract/general.md#text).
import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { getMetadataStorage } from 'class-validator';
import { MintGrantBody } from '../../../src/modules/accounts/http/server/grant-bodies.js';
import { OpenIncomeBody } from '../../../src/modules/income/http/platform/open-income-body.js';
import { codeIn } from '../../../src/modules/parties/http/direct/answer-bodies.js';
import { DeviceBody, RegistrationBody } from '../../../src/modules/parties/http/direct/registration-body.js';
import { CheckoutBody } from '../../../src/modules/payments/http/direct/checkout-bodies.js';
import { PdfBody, ShareBody } from '../../../src/modules/reports/http/platform/report-bodies.js';
import { SubmitBody } from '../../../src/modules/screening/http/platform/submit-body.js';
import { DeliveriesQuery } from '../../../src/modules/webhooks/http/dashboard/deliveries-query.js';
import {
  ChangeEndpointBody,
  CreateEndpointBody,
  RotateSecretBody,
} from '../../../src/modules/webhooks/http/dashboard/endpoint-bodies.js';
import { readBody } from '../../support/bodies.js';

/** These fields are not texts, so an empty text in them is invalid. */
const NO_TEXTS = [
  'productId',
  'routes',
  'attempt',
  'application_fee',
  'metadata',
  'reportFlags',
  'enabled_events',
  'limit',
  'previous_valid_for_seconds',
  'resume_from',
  'signatures',
  'max_per_second',
  'disabled',
];
/** The classes keep an empty address, and the handlers remove it: test/unit/screening, test/unit/payments. */
const ADDRESSES = ['unitAddress', 'propertyAddress'];

const BODIES = [
  SubmitBody,
  DeviceBody,
  RegistrationBody,
  CheckoutBody,
  CreateEndpointBody,
  ChangeEndpointBody,
  RotateSecretBody,
  DeliveriesQuery,
  MintGrantBody,
  OpenIncomeBody,
  PdfBody,
  ShareBody,
];

const optional = BODIES.flatMap((type) => {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const fields = rules.filter((rule) => rule.type === 'conditionalValidation').map(({ propertyName }) => propertyName);
  return [...new Set(fields)].map((field) => [type.name, field, type] as const);
});

/** The names of the refused fields. */
async function faults(type: (typeof BODIES)[number], body: object): Promise<string[]> {
  try {
    await readBody<object>(type, body, new Date());
    return [];
  } catch (error) {
    return (error as any).detail.details.map(({ field }: { field: string }) => field);
  }
}

it.each(optional)(
  '%s.%s: an empty text counts as missing, or is refused when the field has another type',
  async (_, field, type) => {
    const refused = (await faults(type, { [field]: '' })).includes(field);
    const missing = (await faults(type, {})).includes(field);
    expect(refused).toBe(NO_TEXTS.includes(field) || missing);
    if (refused || ADDRESSES.includes(field)) return;
    const given = { renterId: 'r', successUrl: 's', cancelUrl: 'c', jscPayload: 'j', url: 'u', html: 'h', [field]: '' };
    if (type !== SubmitBody) expect(await readBody<object>(type, given, new Date())).not.toHaveProperty(field);
  },
);

it('an empty code is replaced by the field with the older name', () => {
  expect(codeIn({ code: '', otp: '123456' })).toEqual({ method: 'otp', code: '123456' });
  expect(codeIn({ code: ' 123456 ' })).toEqual({ method: 'otp', code: '123456' });
});
