// The bodies that the income vendor accepts, field by field.
import { type Ending, FAILURES, ROUTES, type Route } from './outcomes.js';

export interface InquiryBody {
  readonly route: Route;
  /** The identity vendor's token, which identifies the person. */
  readonly identitySession?: string;
}
export interface PaceBody {
  readonly milliseconds: number;
}
export interface DecisionBody {
  readonly ending: Ending;
}

const strict = { type: 'object', additionalProperties: false };
const querystring = strict;

export const NO_QUERY = { querystring };
export const INQUIRY = {
  querystring,
  body: {
    ...strict,
    required: ['route'],
    properties: {
      route: { type: 'string', enum: ROUTES },
      identitySession: { type: 'string', minLength: 1, maxLength: 4_000 },
    },
  },
};
export const PACE = {
  querystring,
  body: {
    ...strict,
    required: ['milliseconds'],
    properties: { milliseconds: { type: 'integer', minimum: 0, maximum: 600_000 } },
  },
};
export const DECISION = {
  querystring,
  body: {
    ...strict,
    required: ['ending'],
    properties: { ending: { type: 'string', enum: ['completed', ...FAILURES] } },
  },
};
