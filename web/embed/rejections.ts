// The texts with which `init` and `mount` reject. The rejections are plain errors without a code, because only a mistake of the page's author causes
// them. Later failures are reported to `onError` with a code (contract/codes.ts).

export const REJECTIONS = {
  publishableKey: 'publishableKey must be pk_live_ or pk_test_ and at least 16 letters, digits, "-" or "_".',
  initOptions: 'The options must be an object.',
  baseUrl: 'baseUrl must be an http(s) URL without query or fragment, and https where the page is https.',
  baseUrlUnknown: 'baseUrl is needed, because the script was not loaded from the service.',
  embeddedUrl: 'embeddedUrl must be an http(s) URL without query or fragment, and https where the page is https.',
  sessionToken: 'sessionToken must be a text or a function.',
  locale: 'locale must be a BCP 47 tag, such as "en" or "es-US".',
  appearance: 'appearance must be an object of strings, with theme "light" or "dark".',
  destroyed: 'This instance is destroyed.',
  view: 'view must be screening, report, income or rights.',
  mountOptions: 'The options must be an object.',
  selectorOrElement: 'Give either selector or element.',
  selector: 'selector must be a CSS selector.',
  selectorMatchesNothing: 'selector matches no element.',
  element: 'element must be an HTMLElement.',
  elementNotInPage: 'element is not in the page.',
  unitAddress: 'unitAddress must be 1 to 255 characters, or an object of address, city, state and zip.',
  userType: 'userType must be CONSUMER, AGENT or PMC.',
  endUserType: 'endUserType must be INDEPENDENT_OWNER, REAL_ESTATE_AGENT or PROPERTY_MANAGEMENT.',
  applicationFee: 'applicationFee must be a whole number of cents from 1 to 1,000,000.',
  productId: 'productId must be a whole number.',
  screeningId: 'screeningId must be a UUID.',
  screeningIdMissing: 'screeningId is missing.',
  prefill: 'prefill must be an object.',
  callback: 'Callbacks must be functions.',
  callbackName: 'No callback has this name.',
  alreadyMounted: 'The view is already mounted.',
  elementInUse: 'A view is already mounted in this element.',
} as const;

export const rejection = (reason: keyof typeof REJECTIONS): Error => new Error(REJECTIONS[reason]);
