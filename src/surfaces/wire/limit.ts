// How many things a page of a list has, as callers ask for it.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';

export interface PageSizes {
  readonly byDefault: number;
  /** A larger limit counts as this one. */
  readonly most: number;
}

/** A repeated parameter arrives as a list and is refused. */
export function Limit({ byDefault, most }: PageSizes): PropertyDecorator {
  return (target, name) => {
    const description = `More than ${most} counts as ${most}`;
    ApiPropertyOptional({ type: 'integer', minimum: 1, default: byDefault, description })(target, name);
    IsOptional()(target, name);
    Matches(/^0*[1-9]\d*$/, { message: 'must be a whole number from 1, given once' })(target, name);
  };
}

export function limitIn(limit: string | undefined, { byDefault, most }: PageSizes): number {
  return limit === undefined ? byDefault : Math.min(Number(limit), most);
}
