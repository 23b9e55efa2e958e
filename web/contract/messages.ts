// What the page and the frame say to each other. Both ends read whatever arrives as unknown (read-messages.ts): it is copied field by
// field, and is nothing when it has not the shape. Names that are not here do not exist.
import type { CallbackName, CallbackPayloads, EndUserType, UserType, View } from './callbacks.js';
import type { Appearance, Prefill, UnitAddress } from './options.js';

/** A bearer token of the token exchange. */
export interface Token {
  readonly token: string;
  /** Milliseconds since 1970 by the page's clock. */
  readonly expiresAt: number;
}

/**
 * Pages bundle the host script, or pin it, so a frame meets older ones. A field that is added has a default, and one that is not known is
 * left out; only where a page and a frame can no longer understand each other is this number raised.
 */
export const PROTOCOL = 1;

/** What the frame is told when it is loaded. */
export interface FrameStart {
  /** Of the host script. */
  readonly protocol: number;
  readonly view: View;
  readonly token: Token;
  readonly unitAddress: UnitAddress;
  readonly userType: UserType;
  readonly endUserType: EndUserType | null;
  readonly applicationFee: number | null;
  readonly productId: number | null;
  readonly screeningId: string | null;
  readonly prefill: Prefill;
  readonly locale: string | null;
  readonly appearance: Appearance;
}

/** A part of the frame, in CSS pixels from its upper edge. */
export interface Area {
  readonly top: number;
  readonly bottom: number;
}

/** A callback that the frame causes. */
export type FrameEvent = {
  readonly [Name in CallbackName]: { readonly name: Name; readonly payload: CallbackPayloads[Name] };
}[CallbackName];

/** What the frame can ask the page for. Types for penpal: each returns a promise on the other side. */
export type PageMethods = {
  /** Arguments are read as unknown. True: somebody listens to this callback. */
  emit(event: unknown): boolean;
  /** The screening session that the frame shows, as soon as it is known: a frame that loads again goes on with it. */
  session(sessionId: unknown): void;
  /**
   * The token to go on with: a new one if the API refused the one in the argument. Null where none is to be had: the page has told
   * `onError` why, or the API has refused the new one too.
   */
  token(refused: unknown): Promise<Token | null>;
  /** The area has the focus: the page shows it. Some browsers do not scroll a page for what a frame in it focuses. */
  show(area: unknown): void;
};

/** What the page can ask the frame for. */
export type FrameMethods = {
  /** Once; a second call changes nothing. */
  start(start: unknown): void;
  /** The page has renewed the token. */
  renewed(token: unknown): void;
};

/**
 * The page sends this, with a port, to the window of the frame when it has loaded: the one message between windows, and sent to the
 * exact origin of the frame. All else goes through the port.
 */
export const PORT_MESSAGE = 'service:port';
