// The token of an instance: exchanged at the first mount, shared by all its views, renewed before it ends and when the service
// refuses it. One exchange at a time.
import { componentError } from '../contract/codes.js';
import type { Token } from '../contract/messages.js';
import { pauseBeforeRepeat } from '../contract/repeats.js';
import { hint } from './console.js';
import type { Settings } from './settings.js';
import { type Exchanged, exchangeToken, type Grant, type Refused } from './token-exchange.js';

/** Of its life. */
const RENEWED_AT = 0.9;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Between a renewal that failed and the next one. */
const SHORTEST_PAUSE_MS = 5_000;

export class Tokens {
  #token: Token | null = null;
  #renewAt = 0;
  /** The token that came because the service had refused the one before: it is not replaced for that reason again. */
  #lastResort: string | null = null;
  #grant: Grant | null = null;
  #sessionToken: string | null;
  #running: Promise<Exchanged> | null = null;
  /** Of the exchange that runs. */
  #ended = new AbortController();
  #isRedeeming = false;
  /** A request that redeemed the grant may have reached the service, and its reply has not come. */
  #mayBeRedeemed = false;
  /** Nothing renews the token while no view is mounted. */
  #isResting = true;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `settled` is told how every exchange ended, before those who wait for it. */
  constructor(
    private readonly settings: Settings,
    private readonly settled: (exchanged: Exchanged) => void,
  ) {
    this.#sessionToken = settings.sessionToken;
  }

  /** What became of the session grant; null where the page gave none, or before the first exchange. */
  get grant(): Grant | null {
    return this.#grant;
  }

  /** For a view that is being mounted. Null: there is none, and `settled` was told why. */
  async current(): Promise<Token | null> {
    this.#isResting = false;
    if (this.#token === null || Date.now() >= this.#token.expiresAt) return this.#exchange(false);
    if (this.#timer === undefined) this.#schedule();
    return this.#token;
  }

  /** For a view whose token the service refused. Null as for `current`, or because the service refuses every token. */
  async insteadOf(refused: string | null): Promise<Token | null> {
    if (this.#token === null || refused !== this.#token.token) return this.current();
    if (refused === this.#lastResort && Date.now() < this.#token.expiresAt) return null;
    const token = await this.#exchange(true);
    if (token !== null) this.#lastResort = token.token;
    return token;
  }

  /** No view is mounted any more. */
  rest(): void {
    this.#isResting = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // A grant can be redeemed once: the next view needs the reply.
    if (!this.#isRedeeming) this.#end();
  }

  /** Ends what is under way. */
  forget(): void {
    this.rest();
    this.#end();
    this.#token = null;
    this.#sessionToken = null;
  }

  /** `isRefused`: the service does not take the token that there is. */
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
    // By the clock, which goes on while the timers of a computer that sleeps do not.
    const isGood = before !== null && Date.now() < before.expiresAt;
    // What a grant gave is given to its token only: without it the new one could be another account's.
    const needsBefore = this.#grant?.consumed === true;
    if (needsBefore && !isGood) return { error: componentError('AUTH_TOKEN_INVALID') };
    const renewed = isGood && (needsBefore || !isRefused) ? before.token : null;
    const exchanged = await this.#askWith(renewed, ended);
    if (renewed === null || 'token' in exchanged || exchanged.error.code !== 'AUTH_UNAUTHORIZED') return exchanged;
    // Good by this clock, but not to the service.
    return needsBefore ? { error: componentError('AUTH_TOKEN_INVALID') } : this.#askWith(null, ended);
  }

  async #askWith(renewed: string | null, ended: AbortSignal): Promise<Exchanged> {
    const failed = this.#token === null ? 'TOKEN_EXCHANGE_FAILED' : 'TOKEN_REFRESH_FAILED';
    for (let repeats = 0; ; repeats += 1) {
      this.#isRedeeming = this.#sessionToken !== null;
      const wanted = { sessionToken: this.#sessionToken, renewed, failed } as const;
      const exchanged = await exchangeToken(this.settings, wanted, ended);
      this.#isRedeeming = false;
      if ('token' in exchanged) return this.#isLost(exchanged.grant) ? { error: componentError(failed) } : exchanged;
      // What is refused with a 4xx has redeemed nothing.
      if (exchanged.status < 400 || exchanged.status >= 500) this.#mayBeRedeemed = true;
      const pauseMs = this.#pauseAfter(exchanged, repeats);
      if (pauseMs === null) return exchanged;
      await pause(pauseMs, ended);
      if (ended.aborted) return exchanged;
    }
  }

  /** The page meant its session to be bound: it fails where that was redeemed here, and not seen. */
  #isLost(grant: Grant | null): boolean {
    return this.#mayBeRedeemed && grant?.reason === 'ALREADY_CONSUMED';
  }

  /** The first exchange is made again where the reason may pass; a renewal has its timer, and a view that has gone needs none. */
  #pauseAfter(refused: Refused, repeats: number): number | null {
    const isNeeded = this.#token === null && !this.#isResting && !refused.isEnded;
    return isNeeded ? pauseBeforeRepeat(repeats, refused) : null;
  }

  #keep(token: Token, grant: Grant | null): void {
    const now = Date.now();
    this.#token = token;
    this.#renewAt = now + (token.expiresAt - now) * RENEWED_AT;
    if (this.#sessionToken !== null) {
      // A grant is good once; the tokens that follow keep it.
      this.#sessionToken = null;
      this.#grant = grant;
      if (grant?.consumed === false) hint(`the session token could not be used (${String(grant.reason)}).`);
    }
    if (!this.#isResting) this.#schedule();
  }

  /** While there is a token to renew: more and more often towards its end. */
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

/** Ends early when the signal says so, without a timer left. */
function pause(ms: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    ended.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
