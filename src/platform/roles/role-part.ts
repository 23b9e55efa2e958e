// The role of a process decides which parts run by themselves. Modules declare the parts as providers, and RoleRunner starts and stops them.
import type { InjectionToken, Provider } from '@nestjs/common';

/** Every process of the service runs the parts of `every-role`. An operator command starts no part. */
export type RoleName = 'every-role' | 'projector' | 'api' | 'worker';

export interface Startable {
  /** Awaited before the decision whether workers may begin. The preparation may run several times. */
  prepare?(): Promise<void>;
  start(): Promise<void> | void;
  /** Accepts no more work and waits for running work. */
  stop?(): Promise<void> | void;
}

export class RolePart {
  constructor(
    readonly role: RoleName,
    readonly runs: Startable,
  ) {}
}

/** For `providers`: processes of the role start the provider of this token, directly or through `as`. */
export function rolePart<Provided extends Startable>(role: RoleName, token: InjectionToken<Provided>): Provider;
export function rolePart<Provided>(
  role: RoleName,
  token: InjectionToken<Provided>,
  as: (provided: Provided) => Startable,
): Provider;
export function rolePart<Provided>(
  role: RoleName,
  token: InjectionToken<Provided>,
  as = (provided: Provided): Startable => provided as Startable,
): Provider {
  return {
    provide: Symbol(`${nameOf(token)} of ${role}`),
    useFactory: (provided: Provided) => new RolePart(role, as(provided)),
    inject: [token],
  };
}

function nameOf(token: InjectionToken): string {
  return typeof token === 'function' ? token.name : typeof token === 'symbol' ? (token.description ?? '') : token;
}
