import { isEmbeddable } from '../../../kernel/embeddable-origin.js';
import type { Decider } from '../../../kernel/decider.js';
import type { Environment } from '../../../kernel/environment.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { checkPerMinute, wrong } from './account.js';
import { urlIn } from '../../../kernel/url.js';

export const KEY_KINDS = ['publishable', 'secret', 'api'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/**
 * The class sets the default format of reports on the direct API: HTML for a partner, JSON for a first party (docs/contract/server.md#secret-keys).
 */
export const CLIENT_CLASSES = ['partner', 'first_party'] as const;
export type ClientClass = (typeof CLIENT_CLASSES)[number];

/** The additional fields of each kind of key. */
export type KeyUse =
  /** Origins as browsers serialise them. `perMinute`: token exchanges per minute; null for the account's limit. */
  | { readonly kind: 'publishable'; readonly allowedOrigins: readonly string[]; readonly perMinute: number | null }
  | { readonly kind: 'secret' }
  | { readonly kind: 'api'; readonly clientClass: ClientClass };

export type AccessKeyCommand =
  | {
      readonly kind: 'issue';
      readonly accountId: string;
      readonly environment: Environment;
      readonly use: KeyUse;
      /** SHA-256 of the whole key, lowercase hex. */
      readonly keyHash: string;
    }
  | { readonly kind: 'allow-origins'; readonly allowedOrigins: readonly string[] }
  | { readonly kind: 'limit-exchanges'; readonly perMinute: number | null }
  | { readonly kind: 'deactivate' };

export type AccessKeyEvent =
  | DomainEvent<
      'AccessKeyIssued',
      { readonly accountId: string; readonly environment: Environment; readonly use: KeyUse; readonly keyHash: string }
    >
  | DomainEvent<'OriginsAllowed', { readonly allowedOrigins: readonly string[] }>
  | DomainEvent<'ExchangeLimitSet', { readonly perMinute: number | null }>
  | DomainEvent<'AccessKeyDeactivated', Record<never, never>>;

export type AccessKeyState = { readonly status: 'unknown' } | IssuedKey;

export interface IssuedKey {
  readonly status: 'active' | 'inactive';
  readonly accountId: string;
  readonly environment: Environment;
  readonly use: KeyUse;
  readonly keyHash: string;
}

/** Each key has a stream of its own. The id of the stream is part of the key's text. A deactivated key stays deactivated. */
export const accessKey: Decider<AccessKeyState, AccessKeyCommand, AccessKeyEvent> = {
  category: 'access_key',
  initial: { status: 'unknown' },

  decide(command, state) {
    switch (command.kind) {
      case 'issue': {
        if (state.status !== 'unknown') throw wrong('key', 'A key is issued once.');
        const { accountId, environment, keyHash } = command;
        return [
          {
            type: 'AccessKeyIssued',
            data: { accountId, environment, use: checkedUse(command.use, environment), keyHash },
          },
        ];
      }
      case 'allow-origins': {
        const { use, environment } = publishable(issued(state));
        const allowedOrigins = checkedOrigins(command.allowedOrigins, environment);
        return allowedOrigins.join() === use.allowedOrigins.join()
          ? []
          : [{ type: 'OriginsAllowed', data: { allowedOrigins } }];
      }
      case 'limit-exchanges': {
        checkPerMinute(command.perMinute);
        const { use } = publishable(issued(state));
        return command.perMinute === use.perMinute
          ? []
          : [{ type: 'ExchangeLimitSet', data: { perMinute: command.perMinute } }];
      }
      case 'deactivate':
        return issued(state).status === 'inactive' ? [] : [{ type: 'AccessKeyDeactivated', data: {} }];
      default:
        return command satisfies never;
    }
  },

  evolve(state, event) {
    if (event.type === 'AccessKeyIssued') return { status: 'active', ...event.data };
    if (state.status === 'unknown') return state;
    switch (event.type) {
      case 'OriginsAllowed':
        return state.use.kind === 'publishable'
          ? { ...state, use: { ...state.use, allowedOrigins: event.data.allowedOrigins } }
          : state;
      case 'ExchangeLimitSet':
        return state.use.kind === 'publishable'
          ? { ...state, use: { ...state.use, perMinute: event.data.perMinute } }
          : state;
      case 'AccessKeyDeactivated':
        return { ...state, status: 'inactive' };
      default:
        event satisfies never;
        return state;
    }
  },
};

/**
 * Whether pages of this origin may exchange the key. Scheme, host and port must match exactly as a browser sends them. The origin `null` of a
 * sandboxed frame never matches, and plain HTTP matches only for test keys.
 */
export function allowsOrigin(
  key: { readonly environment: Environment; readonly allowedOrigins: readonly string[] },
  origin: string,
): boolean {
  if (origin === 'null') return false;
  if (key.environment === 'live' && !origin.startsWith('https://')) return false;
  return key.allowedOrigins.includes(origin);
}

function issued(state: AccessKeyState): IssuedKey {
  if (state.status === 'unknown') throw new DomainError('request.not_found', { field: 'key' });
  return state;
}

function publishable(key: IssuedKey): { use: Extract<KeyUse, { kind: 'publishable' }>; environment: Environment } {
  if (key.use.kind !== 'publishable') throw wrong('key', 'Only publishable keys have origins and a limit.');
  return { use: key.use, environment: key.environment };
}

function checkedUse(use: KeyUse, environment: Environment): KeyUse {
  switch (use.kind) {
    case 'publishable':
      checkPerMinute(use.perMinute);
      return {
        kind: use.kind,
        allowedOrigins: checkedOrigins(use.allowedOrigins, environment),
        perMinute: use.perMinute,
      };
    case 'secret':
      return { kind: use.kind };
    case 'api':
      if (!CLIENT_CLASSES.includes(use.clientClass))
        throw wrong('client-class', `The client class must be one of ${CLIENT_CLASSES.join(', ')}.`);
      return { kind: use.kind, clientClass: use.clientClass };
    default:
      return use satisfies never;
  }
}

function checkedOrigins(origins: readonly string[], environment: Environment): string[] {
  if (origins.length === 0 || origins.length > 100)
    throw wrong('origins', 'A publishable key has 1 to 100 allowed origins.');
  return [...new Set(origins.map((origin) => checkedOrigin(origin, environment)))];
}

/** The origin as browsers serialise it: lowercase, no default port, no path. */
function checkedOrigin(text: string, environment: Environment): string {
  const url = urlIn(text);
  const bare =
    url !== null &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '';
  if (!bare || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw wrong('origins', 'An origin is a scheme, a host and a port, such as https://app.example.com.');
  }
  if (url.protocol === 'http:' && environment === 'live')
    throw wrong('origins', 'A live key allows https origins only.');
  if (!isEmbeddable(url.origin))
    throw wrong(
      'origins',
      'The host of an origin is written out: no page can embed the component by a wildcard, an IPv6 address or quotes.',
    );
  return url.origin;
}
