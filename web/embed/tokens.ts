// The token of an instance. The token is exchanged at the first mount, shared by all views, and renewed before it expires or when the service refuses
// it. Only one exchange runs at a time.
import { hostError } from '../contract/host-codes.js';
import type { Token } from '../contract/messages.js';
import { pauseBeforeRepeat } from '../contract/repeats.js';
import { callbackThrew, hint } from './console.js';
import { isGrant } from './init-options.js';
import type { Settings } from './settings.js';
import { type Exchanged, exchangeToken, type Grant, type Refused } from './token-exchange.js';

/** The fraction of a token's validity after which the token is renewed. */
const RENEWED_AT = 0.9;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** The shortest time between a failed renewal and the next one. */
const SHORTEST_PAUSE_MS = 5_000;

export class Tokens {
  #token: Token | null = null;
  #renewAt = 0;
  /** The token that replaced a refused token. The new token is not replaced for the same reason again. */
  #lastResort: string | null = null;
  #grant: Grant | null = null;
  #sessionToken: string | null;
  #running: Promise<Exchanged> | null = null;
  /** Aborts the running exchange. */
  #ended = new AbortController();
  #isRedeeming = false;
  /** A request that redeemed the grant may have reached the service, but its reply has not arrived. */
  #mayBeRedeemed = false;
  /** The token is not renewed while no view is mounted. */
  #isResting = true;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The page's function that returns a grant, if the page gave one. */
  readonly #getGrant: (() => unknown) | null;

  /** `settled` receives the result of every exchange before the callers that wait for the result. */
  constructor(
    private readonly settings: Settings,
    private readonly settled: (exchanged: Exchanged) => void,
  ) {
    const { sessionToken } = settings;
    this.#getGrant = typeof sessionToken === 'function' ? sessionToken : null;
    this.#sessionToken = typeof sessionToken === 'string' ? sessionToken : null;
  }

  /** The result for the session grant; null if the page gave none, and before the first exchange. */
  get grant(): Grant | null {
    return this.#grant;
  }

  /** For a view that is being mounted. Null means that the exchange failed, and that `settled` received the reason. */
  async current(): Promise<Token | null> {
    this.#isResting = false;
    if (this.#token === null || Date.now() >= this.#token.expiresAt) return this.#exchange(false);
    if (this.#timer === undefined) this.#schedule();
    return this.#token;
  }

  /** For a view whose token the service refused. Null for the same reason as in `current`, or because the service refuses every token. */
  async insteadOf(refused: string | null): Promise<Token | null> {
    if (this.#token === null || refused !== this.#token.token) return this.current();
    if (refused === this.#lastResort && Date.now() < this.#token.expiresAt) return null;
    const token = await this.#exchange(true);
    if (token !== null) this.#lastResort = token.token;
    return token;
  }

  /** The last view was unmounted. */
  rest(): void {
    this.#isResting = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // A grant can be redeemed only once, so the next view needs the reply.
    if (!this.#isRedeeming) this.#end();
  }

  /** Ends a running exchange and deletes the token. */
  forget(): void {
    this.rest();
    this.#end();
    this.#token = null;
    this.#sessionToken = null;
  }

  /** `isRefused`: the service refuses the present token. */
  async #exchange(isRefused: boolean): Promise<Token | null> {
    this.#running ??= this.#exchangeOnce(isRefused, this.#ended.signal);
    const exchanged = await this.#running;
    return 'token' in exchanged ? exchanged.token : null;
  }

  #end(): void {
    this.#ended.abort();
    this.#ended = new AbortController();
    this.#running = null;
  }

  async #exchangeOnce(isRefused: boolean, ended: AbortSignal): Promise<Exchanged> {
    const exchanged = await this.#ask(isRefused, ended);
    if (ended.aborted) return exchanged;
    this.#running = null;
    if ('token' in exchanged) this.#keep(exchanged.token, exchanged.grant);
    else this.#tryAgain();
    this.settled(exchanged);
    return exchanged;
  }

  async #ask(isRefused: boolean, ended: AbortSignal): Promise<Exchanged> {
    const before = this.#token;
    // Compares clock times, because timers stop while a computer sleeps and the clock continues.
    const isGood = before !== null && Date.now() < before.expiresAt;
    // A token under a grant can only be renewed. A new exchange without the grant could give the token of another account. A page with a function can
    // give another grant.
    const needsBefore = this.#isBound();
    if (needsBefore && !isGood) return { error: hostError('AUTH_TOKEN_INVALID') };
    const renewed = isGood && (needsBefore || !isRefused) ? before.token : null;
    const exchanged = await this.#askWith(renewed, ended);
    if (renewed === null || 'token' in exchanged || exchanged.error.code !== 'AUTH_UNAUTHORIZED') return exchanged;
    // Valid by this clock, but not accepted by the service.
    return needsBefore ? { error: hostError('AUTH_TOKEN_INVALID') } : this.#askWith(null, ended);
  }

  #isBound(): boolean {
    return this.#grant?.consumed === true && this.#getGrant === null;
  }

  /** Each request has a grant of its own, because an earlier grant may have been redeemed. False if the page gave none. */
  async #newGrant(get: () => unknown, ended: AbortSignal): Promise<boolean> {
    this.#sessionToken = null;
    try {
      const grant = await get();
      if (isGrant(grant)) this.#sessionToken = grant;
    } catch (error) {
      callbackThrew('sessionToken', error);
    }
    return this.#sessionToken !== null && !ended.aborted;
  }

  async #askWith(renewed: string | null, ended: AbortSignal): Promise<Exchanged> {
    const failed = this.#token === null ? 'TOKEN_EXCHANGE_FAILED' : 'TOKEN_REFRESH_FAILED';
    for (let repeats = 0; ; repeats += 1) {
      if (renewed === null && this.#getGrant && !(await this.#newGrant(this.#getGrant, ended)))
        return { error: hostError(failed) };
      this.#isRedeeming = this.#sessionToken !== null;
      const wanted = { sessionToken: this.#sessionToken, renewed, failed } as const;
      const exchanged = await exchangeToken(this.settings, wanted, ended);
      this.#isRedeeming = false;
      if ('token' in exchanged) return this.#isLost(exchanged.grant) ? { error: hostError(failed) } : exchanged;
      // A 4xx reply means that the grant was not redeemed.
      if (exchanged.status < 400 || exchanged.status >= 500) this.#mayBeRedeemed = true;
      const pauseMs = this.#pauseAfter(exchanged, repeats);
      if (pauseMs === null) return exchanged;
      await pause(pauseMs, ended);
      if (ended.aborted) return exchanged;
    }
  }

  /**
   * Whether the session would lose its grant without an error: an earlier request redeemed the grant, and its reply never arrived. The exchange fails
   * in this case.
   */
  #isLost(grant: Grant | null): boolean {
    return this.#mayBeRedeemed && grant?.reason === 'ALREADY_CONSUMED';
  }

  /** Repeats only a first exchange whose failure may be temporary. A renewal has a timer of its own, and an unmounted view needs no token. */
  #pauseAfter(refused: Refused, repeats: number): number | null {
    const isNeeded = this.#token === null && !this.#isResting && !refused.isEnded;
    return isNeeded ? pauseBeforeRepeat(repeats, refused) : null;
  }

  #keep(token: Token, grant: Grant | null): void {
    const now = Date.now();
    this.#token = token;
    this.#renewAt = now + (token.expiresAt - now) * RENEWED_AT;
    if (this.#sessionToken !== null) {
      // A grant can be redeemed once, and later tokens keep it.
      this.#sessionToken = null;
      this.#grant = grant;
      if (grant?.consumed === false) hint(`the session token could not be used (${String(grant.reason)}).`);
    }
    if (!this.#isResting) this.#schedule();
  }

  /** While the token is valid, tries again at shorter and shorter intervals. */
  #tryAgain(): void {
    const now = Date.now();
    const left = (this.#token?.expiresAt ?? 0) - now;
    if (this.#isResting || now < this.#renewAt || left < SHORTEST_PAUSE_MS) return;
    this.#renewAt = now + Math.max(left / 2, SHORTEST_PAUSE_MS);
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#exchange(false), Math.min(this.#renewAt - Date.now(), LONGEST_TIMER_MS));
  }
}

/** Waits, ends early when the signal aborts, and leaves no timer. */
function pause(ms: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    ended.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
