// How a vendor knows the service. The client asks for the headers of each request. No credential is logged, put into an address or into an error.
import { type Secret, secretOf } from '../../kernel/vendor-settings.js';
import { limited } from '../../kernel/with-timeout.js';
import { isRecord } from './answer.js';
import { type ClientCertificate, type Exchange, type RawRequest, Transport } from './transport.js';

/** The parts of a request that a signature can cover. `path` is the path on the wire, with its query. `body` is empty for a request without one. */
export interface SignedParts {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the vendor has refused the credential. True if another one is now there, so that the request can be sent again. Never throws. */
  renew(): Promise<boolean>;
}

/** No credential can be had now, so the request is not sent. */
export interface NoCredential {
  readonly retryAfterSeconds?: number;
}

type OnToken = (exchange: Exchange) => void;

export interface Auth {
  /** Never throws. `onToken` gets the end of a token request that this call caused. */
  credentialFor(request: SignedParts, onToken: OnToken): Promise<Credential | NoCredential>;
  close?(): Promise<void>;
}

/** `timeoutMs` is the time limit of the client, and `tls` its certificate. Token requests use both. */
export type AuthScheme = (client: { readonly timeoutMs: number; readonly tls?: ClientCertificate }) => Auth;

/** `Authorization: Bearer`. The secret is read again when the vendor refuses it. */
export function bearer(secret: Secret): AuthScheme {
  return signed(secret, (_, token) => ({ authorization: `Bearer ${token}` }));
}

/** `Authorization: Basic`. The password is read again when the vendor refuses it. */
export function basic(user: string, password: Secret): AuthScheme {
  return signed(password, (_, word) => ({ authorization: basicHeader(user, word) }));
}

/**
 * Headers that `sign` computes from the request as it is sent, and from a secret. The secret is read again when the vendor refuses it. Also for keys in
 * headers of their own.
 */
export function signed(
  secret: Secret,
  sign: (request: SignedParts, secret: string) => Readonly<Record<string, string>>,
): AuthScheme {
  let known: string | undefined;
  const isReplaced = (used: string): boolean => {
    try {
      // Another request may have read it again meanwhile.
      if (known === used) known = secretOf(secret);
    } catch {
      // A file that is being replaced can be missing for a moment.
      return false;
    }
    return known !== used;
  };
  return () => ({
    async credentialFor(request): Promise<Credential | NoCredential> {
      try {
        const used = (known ??= secretOf(secret));
        return { headers: sign(request, used), renew: async () => isReplaced(used) };
      } catch {
        return {};
      }
    },
  });
}

export interface ClientCredentials {
  /** The address of the token endpoint. It may be on another server than the vendor's interface. */
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Read for each token request. */
  readonly clientSecret: Secret;
  readonly scope?: string;
  /** Further fields of the token request, such as `audience`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Where the id and the secret are in the token request (RFC 6749, section 2.3.1). The default is `basic`. */
  readonly sendAs?: 'basic' | 'body';
}

interface Token {
  readonly value: string;
  /** In milliseconds of `performance.now()`. */
  readonly renewAt: number;
}

/** For a token without `expires_in`. */
const LIFETIME_SECONDS = 300;
const MARGIN_SECONDS = 60;
/** The pause after a token request that failed, and after a renewal whose token the vendor refuses too. */
const RENEWAL_PAUSE_MS = 1_000;

/**
 * OAuth2 client credentials (RFC 6749, section 4.4). All requests that need a token wait for the same token request, which may take half of the client's
 * time limit. A token is renewed a minute before its end, or a fifth of a short life earlier, and when the vendor refuses it. A vendor that refuses
 * all tokens, or whose token endpoint fails, gets about one token request a second, whatever the number of calls.
 */
export function oauth2(options: ClientCredentials): AuthScheme {
  return ({ timeoutMs, tls }) => {
    const { origin, pathname, search } = new URL(options.tokenUrl);
    const transport = new Transport({ baseUrl: origin, timeoutMs, connections: 1, ...(tls && { tls }) });
    let token: Token | null = null;
    let asked: Promise<Token | NoCredential> | null = null;
    let failure: NoCredential = {};
    let failedAt = -Infinity;
    let renewedAt = -Infinity;
    const isPausing = (since: number): boolean => performance.now() < since + RENEWAL_PAUSE_MS;

    const current = async (onToken: OnToken, refused?: string): Promise<Token | NoCredential> => {
      if (token !== null && token.value !== refused && performance.now() < token.renewAt) return token;
      if (asked === null && isPausing(failedAt)) return failure;
      asked ??= limited(timeoutMs / 2, undefined, (limit) => requestToken(onToken, limit)).finally(
        () => (asked = null),
      );
      return asked;
    };

    const failed = (end: NoCredential): NoCredential => {
      failedAt = performance.now();
      return (failure = end);
    };

    const requestToken = async (onToken: OnToken, limit: AbortSignal): Promise<Token | NoCredential> => {
      const startedAt = performance.now();
      token = null;
      try {
        const exchange = await transport.exchange(tokenRequest(pathname + search, options), limit);
        onToken(exchange);
        if (exchange.end !== 'answered') return failed({});
        const { status, body, retryAfterSeconds } = exchange.answer;
        const made = status === 200 ? tokenOf(body, startedAt) : null;
        if (made !== null) return (token = made);
        return failed(retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
      } catch {
        return failed({});
      }
    };

    return {
      async credentialFor(_, onToken) {
        const had = await current(onToken);
        if (!('value' in had)) return had;
        const renew = async (): Promise<boolean> => {
          if (token?.value === had.value) {
            if (isPausing(renewedAt)) return false;
            renewedAt = performance.now();
          }
          const next = await current(onToken, had.value);
          return 'value' in next && next.value !== had.value;
        };
        return { headers: { authorization: `Bearer ${had.value}` }, renew };
      },
      close: () => transport.close(),
    };
  };
}

function tokenRequest(path: string, options: ClientCredentials): RawRequest {
  const { clientId, clientSecret, scope, parameters, sendAs = 'basic' } = options;
  const secret = secretOf(clientSecret);
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...parameters,
    ...(sendAs === 'body' && { client_id: clientId, client_secret: secret }),
  });
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    ...(sendAs === 'basic' && { authorization: basicHeader(formEncoded(clientId), formEncoded(secret)) }),
  };
  return { method: 'POST', path, headers, body: form.toString() };
}

function tokenOf(body: unknown, startedAt: number): Token | null {
  if (!isRecord(body)) return null;
  const { access_token: value, token_type: type = 'bearer', expires_in: said } = body;
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,8000}$/.test(value)) return null;
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') return null;
  const seconds = typeof said === 'number' && said >= 0 ? said : LIFETIME_SECONDS;
  return { value, renewAt: startedAt + (seconds - Math.min(MARGIN_SECONDS, seconds / 5)) * 1_000 };
}

function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function formEncoded(value: string): string {
  return new URLSearchParams({ value }).toString().slice('value='.length);
}
