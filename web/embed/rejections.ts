// The texts with which `init` and `mount` reject: plain errors without a code, because only a mistake of the page's author causes them.
// Later failures go to `onError` with a code (contract/codes.ts).

export const REJECTIONS = {
  publishableKey: 'publishableKey must be pk_live_ or pk_test_ followed by at least 16 letters, digits, "-" or "_".',
  initOptions: 'The options of init must be an object.',
  baseUrl: 'baseUrl must be an http(s) URL without query or fragment, and https where the page is https.',
  baseUrlUnknown:
    'baseUrl is needed: the host script was not loaded from the service, so the address of the service is not known.',
  embeddedUrl: 'embeddedUrl must be an http(s) URL without query or fragment, and https where the page is https.',
  sessionToken: 'sessionToken must be a non-empty string.',
  locale: 'locale must be a BCP 47 language tag, such as "en" or "es-US".',
  appearance: 'appearance must be an object of strings, with a theme of "light" or "dark".',
  destroyed: 'This instance is destroyed; call Service.init again.',
  view: 'view must be "screening", "report" or "income".',
  mountOptions: 'The options of mount must be an object.',
  selectorOrElement: 'Give either selector or element, and not both.',
  selector: 'selector must be a CSS selector.',
  selectorMatchesNothing: 'selector matches no element of this page.',
  element: 'The element must be an HTMLElement.',
  elementNotInPage: 'The element is not in the page.',
  unitAddress:
    'unitAddress is needed: a string of 1 to 255 characters, or such strings named address, city, state and zip.',
  userType: 'userType must be CONSUMER, AGENT or PMC.',
  endUserType: 'endUserType must be INDEPENDENT_OWNER, REAL_ESTATE_AGENT or PROPERTY_MANAGEMENT.',
  applicationFee: 'applicationFee must be a whole number of cents from 1 to 1,000,000.',
  productId: 'productId must be a whole number.',
  screeningId: 'screeningId must be a UUID.',
  screeningIdMissing: 'The view "report" needs a screeningId.',
  prefill: 'prefill must be an object.',
  callback: 'Callbacks and listeners must be functions.',
  callbackName: 'There is no callback of this name.',
  alreadyMounted: 'The view is already mounted; unmount it first.',
  elementInUse: 'A view is already mounted in this element; unmount it first.',
} as const;

export const rejection = (reason: keyof typeof REJECTIONS): Error => new Error(REJECTIONS[reason]);
