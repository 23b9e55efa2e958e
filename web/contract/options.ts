// The options of the page that embeds the component. The types are published with the host script.
import type { CallbackName, CallbackPayloads, EndUserType, UserType, View } from './callbacks.js';

export interface InitOptions {
  /** Address of the service; by default the base address of the host script. */
  readonly baseUrl?: string;
  /** Address of the frame; by default `{baseUrl}/embedded`. */
  readonly embeddedUrl?: string;
  /**
   * A session grant that the integrator's server has issued (POST /v1/sessions), or a function that returns one. A grant can be used once; the
   * function is called again when the instance needs another grant.
   */
  readonly sessionToken?: string | (() => Promise<string>);
  /** A BCP 47 tag. English and Spanish are supported. The default is the browser's language. */
  readonly locale?: string;
  readonly appearance?: Appearance;
}

/** CSS values. An invalid value is ignored. */
export interface Appearance {
  /** The default is the browser's theme. */
  readonly theme?: 'light' | 'dark';
  readonly accentColor?: string;
  readonly backgroundColor?: string;
  readonly textColor?: string;
  readonly borderRadius?: string;
  readonly fontFamily?: string;
  /** The distance between parts, as a CSS length. */
  readonly spacing?: string;
}

export type UnitAddress =
  string | { readonly address: string; readonly city: string; readonly state: string; readonly zip: string };

/** Fields of the person that the page already knows. These fields are sent only to the frame. */
export interface Prefill {
  readonly firstName?: string;
  readonly middleName?: string;
  readonly lastName?: string;
  /** MMDDYYYY. */
  readonly dateOfBirth?: string;
  readonly phoneNumber?: string;
  readonly email?: string;
  readonly currentAddress?: string;
  readonly currentCity?: string;
  readonly currentState?: string;
  readonly currentZip?: string;
  readonly companyName?: string;
}

export type Callbacks = { readonly [Name in CallbackName]?: (payload: CallbackPayloads[Name]) => void };

/** The element into which the component is mounted: a CSS selector, or the element itself. A page gives either the selector or the element. */
export type Place =
  | { readonly selector: string; readonly element?: never }
  | { readonly element: HTMLElement; readonly selector?: never };

interface ViewOptions extends Callbacks {
  readonly endUserType?: EndUserType;
  /** The default is CONSUMER. */
  readonly userType?: UserType;
  /** The cents of the price that the platform keeps; 1 to 1,000,000. */
  readonly applicationFee?: number;
  readonly productId?: number;
  readonly prefill?: Prefill;
}

/** The options of `mount`, by view. */
export interface MountOptionsByView {
  screening: Place &
    ViewOptions & {
      /** The home for which the person is screened: 1 to 255 characters, or its parts. */
      readonly unitAddress: UnitAddress;
      /** The id of a screening to continue. */
      readonly screeningId?: string;
    };
  report: Place & ViewOptions & { readonly screeningId: string; readonly unitAddress?: UnitAddress };
  rights: Place & ViewOptions & { readonly screeningId: string; readonly unitAddress?: UnitAddress };
  income: Place & ViewOptions & { readonly screeningId?: string; readonly unitAddress?: UnitAddress };
}

export type MountOptions = MountOptionsByView[View];

export interface ServiceInstance {
  /** Rejects with a plain error when an option is invalid. Later failures are reported to `onError`. */
  mount<V extends View>(view: V, options: MountOptionsByView[V]): Promise<MountedView>;
  /** Receives the callbacks of all views of this instance. Returns a function that ends the subscription. */
  on<Name extends CallbackName>(name: Name, listener: (payload: CallbackPayloads[Name]) => void): () => void;
  /**
   * Changes the language and the appearance of all present and later views. A field that is not named stays unchanged. With null, the language is the
   * browser's.
   */
  update(options: { readonly locale?: string | null; readonly appearance?: Appearance }): void;
  /** Unmounts every view and deletes the token. */
  destroy(): void;
}

export interface MountedView {
  /**
   * The screening that the view opened or continues; null until it is known. To continue after a reload of the page, store it and pass it to `mount`.
   */
  readonly screeningId: string | null;
  /** Removes the view and all its parts. May be called repeatedly. */
  unmount(): void;
}

export interface ServiceGlobal {
  /** Rejects with a plain error when the key or an option is invalid. */
  init(publishableKey: string, options?: InitOptions): Promise<ServiceInstance>;
}
