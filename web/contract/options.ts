// The options of the page that embeds the component. The types are published with the host script.
import type { CallbackName, CallbackPayloads, EndUserType, UserType, View } from './callbacks.js';

export interface InitOptions {
  /** Address of the service; by default the base address of the host script. */
  readonly baseUrl?: string;
  /** Address of the frame; by default `{baseUrl}/embedded`. */
  readonly embeddedUrl?: string;
  /**
   * A session grant that the integrator's server has issued (POST /v1/sessions), or a function that gets one. A grant is valid once; the
   * function is called again when the instance needs another.
   */
  readonly sessionToken?: string | (() => Promise<string>);
  /** A BCP 47 tag. English and Spanish are supported; by default the browser chooses. */
  readonly locale?: string;
  readonly appearance?: Appearance;
}

/** CSS values. An invalid one is ignored. */
export interface Appearance {
  /** By default the browser's theme. */
  readonly theme?: 'light' | 'dark';
  readonly accentColor?: string;
  readonly backgroundColor?: string;
  readonly textColor?: string;
  readonly borderRadius?: string;
  readonly fontFamily?: string;
  /** Distance between parts; a length. */
  readonly spacing?: string;
}

export type UnitAddress =
  string | { readonly address: string; readonly city: string; readonly state: string; readonly zip: string };

/** Fields of the person that the page already knows. They go only to the frame. */
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

/** The place of the component: a CSS selector, or the element itself. Give one of the two. */
export type Place =
  | { readonly selector: string; readonly element?: never }
  | { readonly element: HTMLElement; readonly selector?: never };

interface ViewOptions extends Callbacks {
  readonly endUserType?: EndUserType;
  /** CONSUMER by default. */
  readonly userType?: UserType;
  /** Cents of the price that the platform keeps; 1 to 1,000,000. */
  readonly applicationFee?: number;
  readonly productId?: number;
  readonly prefill?: Prefill;
}

/** The options of `mount` by view. */
export interface MountOptionsByView {
  screening: Place &
    ViewOptions & {
      /** The home that the screening is for: 1 to 255 characters, or its parts. */
      readonly unitAddress: UnitAddress;
      /** A screening to continue. */
      readonly screeningId?: string;
    };
  report: Place & ViewOptions & { readonly screeningId: string; readonly unitAddress?: UnitAddress };
  income: Place & ViewOptions & { readonly screeningId?: string; readonly unitAddress?: UnitAddress };
}

export type MountOptions = MountOptionsByView[View];

export interface ServiceInstance {
  /** Rejects with a plain error when an option is invalid. Later failures go to `onError`. */
  mount<V extends View>(view: V, options: MountOptionsByView[V]): Promise<MountedView>;
  /** Receives the callbacks of all views of this instance. Returns a function that ends the subscription. */
  on<Name extends CallbackName>(name: Name, listener: (payload: CallbackPayloads[Name]) => void): () => void;
  /** Changes the language and the look of all views, now and later. A field that is not named stays. */
  update(options: Pick<InitOptions, 'locale' | 'appearance'>): void;
  /** Unmounts every view and deletes the token. */
  destroy(): void;
}

export interface MountedView {
  /**
   * The screening that the view opened or continues; null before it is known.
   * To continue after a reload of the page, store it and pass it to `mount`.
   */
  readonly screeningId: string | null;
  /** Removes every trace of the view. May be called again. */
  unmount(): void;
}

export interface ServiceGlobal {
  /** Rejects with a plain error when the key or an option is invalid. */
  init(publishableKey: string, options?: InitOptions): Promise<ServiceInstance>;
}
