// What a process does by itself depends on its role. Modules declare such parts as providers; RoleRunner starts and stops them.
import type { InjectionToken, Provider } from '@nestjs/common';

/** `every-role` is of each process of the service; an operator's command starts no part at all. */
export type RoleName = 'every-role' | 'projector' | 'api' | 'worker';

export interface Startable {
  /** Awaited, also again, before it is decided whether workers may begin. */
  prepare?(): Promise<void>;
  start(): Promise<void> | void;
  /** Ends intake and waits for what is under way. */
  stop?(): Promise<void> | void;
}

export class RolePart {
  constructor(
    readonly role: RoleName,
    readonly runs: Startable,
  ) {}
}

/** For `providers`: the provider of this token is started by processes of the role, as it is or as `as` makes it startable. */
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
