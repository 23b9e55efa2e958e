// What the page that embeds the component may say. The types are published with the host script.
import type { CallbackName, CallbackPayloads, EndUserType, UserType, View } from './callbacks.js';

export interface InitOptions {
  /** Address of the service; by default where the host script was loaded from. */
  readonly baseUrl?: string;
  /** Address of the frame; by default `{baseUrl}/embedded`. */
  readonly embeddedUrl?: string;
  /** A session grant that the integrator's server has minted (POST /v1/sessions). Good once. */
  readonly sessionToken?: string;
  /** A BCP 47 tag; English and Spanish are spoken, and by default the browser's choice. */
  readonly locale?: string;
  readonly appearance?: Appearance;
}

/** CSS values; one that is no value of its kind is left out. */
export interface Appearance {
  /** By default the browser's. */
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

/** Fields of the person that the page knows already. They go to the frame and nowhere else. */
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

export interface MountOptions extends Callbacks {
  /** Where the component goes: a CSS selector, or the element itself. One of the two. */
  readonly selector?: string;
  readonly element?: HTMLElement;
  /** The home that the screening is for: 1 to 255 characters, or its parts. */
  readonly unitAddress: UnitAddress;
  readonly endUserType?: EndUserType;
  /** By default CONSUMER. */
  readonly userType?: UserType;
  /** Cents of the price that the platform keeps; 1 to 1,000,000. */
  readonly applicationFee?: number;
  readonly productId?: number;
  /** A screening to go on with. The view `report` needs it. */
  readonly screeningId?: string;
  readonly prefill?: Prefill;
}

export interface ServiceInstance {
  /** Rejects with a plain error when an option is not valid; what fails later is told to `onError`. */
  mount(view: View, options: MountOptions): Promise<MountedView>;
  /** Hears the callbacks of all views of this instance. Returns what ends that. */
  on<Name extends CallbackName>(name: Name, listener: (payload: CallbackPayloads[Name]) => void): () => void;
  /** Unmounts every view, and forgets the token. */
  destroy(): void;
}

export interface MountedView {
  /**
   * The screening that the view opened or goes on with; null before there is one. To go on after a reload of the page, keep it and
   * give it to `mount`.
   */
  readonly screeningId: string | null;
  /** Leaves nothing behind. May be called again. */
  unmount(): void;
}

export interface ServiceGlobal {
  /** Rejects with a plain error when the key or an option is not valid. */
  init(publishableKey: string, options?: InitOptions): Promise<ServiceInstance>;
}
