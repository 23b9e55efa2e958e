// The messages between the page and the frame. Both ends treat messages as unknown values (read-messages.ts): they copy field by field, and drop a
// message of the wrong shape. All message names are listed here.
import type { CallbackName, CallbackPayloads, EndUserType, UserType, View } from './callbacks.js';
import type { Appearance, Prefill, UnitAddress } from './options.js';

/** A bearer token of the token exchange. */
export interface Token {
  readonly token: string;
  /** Milliseconds since 1970 by the page's clock. */
  readonly expiresAt: number;
}

/**
 * Pages bundle or pin the host script, so a frame may be older or newer than the script. A new field has a default, and an unknown field is ignored.
 * This number increases only when a page and a frame can no longer understand each other.
 */
export const PROTOCOL = 1;

/** The first message to a loaded frame. The message says which view the frame shows, and how. */
export interface FrameStart {
  /** The version of the host script's protocol. */
  readonly protocol: number;
  readonly view: View;
  readonly token: Token;
  /** Null if the page named none, and if the view is not `screening`. */
  readonly unitAddress: UnitAddress | null;
  readonly userType: UserType;
  readonly endUserType: EndUserType | null;
  readonly applicationFee: number | null;
  readonly productId: number | null;
  readonly screeningId: string | null;
  readonly prefill: Prefill;
  readonly locale: string | null;
  readonly appearance: Appearance;
}

/** The language and the appearance of the view. */
export type Dress = Pick<FrameStart, 'locale' | 'appearance'>;

/** A part of the frame, in CSS pixels from the frame's upper edge. */
export interface Area {
  readonly top: number;
  readonly bottom: number;
}

/** A callback that the frame triggers. */
export type FrameEvent = {
  readonly [Name in CallbackName]: { readonly name: Name; readonly payload: CallbackPayloads[Name] };
}[CallbackName];

/** The frame's requests to the page. The types are for penpal: each method returns a promise on the other side. */
export type PageMethods = {
  /** The arguments are read as unknown values. True means that the page listens to this callback. */
  emit(event: unknown): boolean;
  /** The frame's screening session, as soon as it is known. When the frame loads again, it continues with this session. */
  session(sessionId: unknown): void;
  /**
   * The token with which the frame continues. If the API refused the token in the argument, the result is a new one. Null if no valid token can be
   * obtained: the page has sent `onError` with the reason, or the API has refused the new token too.
   */
  token(refused: unknown): Promise<Token | null>;
  /** The area has the focus, so the page scrolls to it. Some browsers do not scroll a page when an element in a frame gets the focus. */
  show(area: unknown): void;
};

/** The page's requests to the frame. */
export type FrameMethods = {
  /** The call has its effect once; a second call changes nothing. */
  start(start: unknown): void;
  /** The page has another language or appearance. The frame of an older service does not have this method. */
  dressed(dress: unknown): void;
  /** The page has a new token. */
  renewed(token: unknown): void;
};

/**
 * The page sends this message with a port to the frame's window when the frame has loaded. This is the only message between windows, and it is sent
 * to the exact origin of the frame. All other messages use the port.
 */
export const PORT_MESSAGE = 'service:port';
