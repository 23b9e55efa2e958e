'use client';
// The npm package `@screening-service/react`: `<ScreeningProvider>` makes an instance of the component, and each `<Screening>` shows a view of it.
import {
  type CallbackName,
  type CallbackPayloads,
  type Callbacks,
  type InitOptions,
  loadScreening,
  type MountedView,
  type MountOptionsByView,
  type ServiceInstance,
  type View,
} from '@screening-service/embed';
import {
  createContext,
  type ReactElement,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';

export interface ScreeningProviderProps extends InitOptions {
  readonly publishableKey: string;
  /** The address of the service. */
  readonly baseUrl: string;
  readonly children?: ReactNode;
}

/** The options of `mount` without the place, which is the component itself. The view is `screening` by default. */
export type ScreeningProps =
  | ({ readonly view?: 'screening' } & Omit<MountOptionsByView['screening'], 'selector' | 'element'>)
  | ({ readonly view: 'report' } & Omit<MountOptionsByView['report'], 'selector' | 'element'>)
  | ({ readonly view: 'rights' } & Omit<MountOptionsByView['rights'], 'selector' | 'element'>)
  | ({ readonly view: 'income' } & Omit<MountOptionsByView['income'], 'selector' | 'element'>);

/** An instance until it is destroyed. */
interface Session {
  readonly instance: ServiceInstance;
  isOver: boolean;
}

/** Both are null while the script is loading. */
interface Provided {
  readonly session: Session | null;
  readonly loadFailure: Error | null;
}

const LOADING: Provided = { session: null, loadFailure: null };
const Context = createContext<Provided | null>(null);

/**
 * Makes one instance for the views below it. Another key or session token makes another instance. `locale` and `appearance` change the open views. A page
 * has one `baseUrl`, so another one is a mistake.
 */
export function ScreeningProvider(props: ScreeningProviderProps): ReactElement {
  const { publishableKey, baseUrl, sessionToken, locale, children } = props;
  const [provided, setProvided] = useState(LOADING);
  const [mistake, setMistake] = useState<Error | null>(null);
  const latest = useLatest(props);
  const embeddedUrl = props.embeddedUrl ?? null;
  // The instance calls the newest function of the parent, so another function makes no other instance.
  const token = typeof sessionToken === 'function' ? 'function' : (sessionToken ?? null);
  const appearance = JSON.stringify(props.appearance ?? {});

  useEffect(() => {
    let isGone = false;
    let session: Session | null = null;
    const open = async (): Promise<void> => {
      const service = await loadScreening(baseUrl).catch((error: unknown) => {
        if ((error as { readonly code?: unknown }).code !== 'SCRIPT_LOAD_FAILED') throw error;
        if (!isGone) setProvided({ session: null, loadFailure: asError(error) });
        return null;
      });
      if (isGone || service === null) return;
      const instance = await service.init(publishableKey, initOptionsOf(latest));
      session = { instance, isOver: isGone };
      if (isGone) instance.destroy();
      else setProvided({ session, loadFailure: null });
    };
    open().catch((error: unknown) => {
      if (!isGone) setMistake(asError(error));
    });
    return () => {
      isGone = true;
      if (session === null) return;
      session.isOver = true;
      session.instance.destroy();
      setProvided(LOADING);
    };
  }, [publishableKey, baseUrl, embeddedUrl, token, latest]);

  const { session } = provided;
  useEffect(() => {
    if (session?.isOver === false)
      session.instance.update({ locale: locale ?? null, appearance: JSON.parse(appearance) as object });
  }, [session, locale, appearance]);

  if (mistake !== null) throw mistake;
  return <Context.Provider value={provided}>{children}</Context.Provider>;
}

/** Shows a view in an element of its own. Other options mount the view again, and other functions do not. */
export function Screening(props: ScreeningProps): ReactElement {
  const provided = useContext(Context);
  if (provided === null) throw new Error('<Screening> must be inside a <ScreeningProvider>.');
  const { session, loadFailure } = provided;
  const [mistake, setMistake] = useState<Error | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const latest = useLatest(props);
  // As text, so that an equal object of a later render mounts nothing again.
  const wanted = JSON.stringify(viewOptionsOf(props));

  useEffect(() => {
    if (loadFailure === null) return;
    const failure = { code: 'SCRIPT_LOAD_FAILED', message: loadFailure.message, recoverable: false } as const;
    const { onError = reportInConsole } = latest.current;
    onError(failure);
  }, [loadFailure, latest]);

  useEffect(() => {
    const element = place.current;
    if (element === null || session === null) return undefined;
    let isGone = false;
    let mounted: MountedView | null = null;
    const { view, ...options } = JSON.parse(wanted) as { readonly view: View };
    const mount = async (): Promise<void> => {
      // In strict mode React undoes the first of two effects in the same turn. Only the second one makes a frame.
      await Promise.resolve();
      if (isGone || session.isOver) return;
      const made = await session.instance.mount(view, { ...options, ...callbacksOf(latest), element });
      mounted = made;
      if (isGone) made.unmount();
    };
    mount().catch((error: unknown) => {
      if (!isGone && !session.isOver) setMistake(asError(error));
    });
    return () => {
      isGone = true;
      mounted?.unmount();
    };
  }, [session, wanted, latest]);

  if (mistake !== null) throw mistake;
  return <div ref={place} />;
}

/** `given`: the component behaves differently when the page listens, so these are passed on only if the first render has them. */
const CALLBACKS: Readonly<Record<CallbackName, 'always' | 'given'>> = {
  onReady: 'always',
  onResize: 'always',
  onChange: 'always',
  onStepStart: 'always',
  onStepComplete: 'always',
  onVerificationSuccess: 'always',
  onVerificationFailure: 'always',
  onScreeningSuccess: 'always',
  onPaymentSuccess: 'always',
  onReportShared: 'always',
  onReportRevoked: 'always',
  onReportShareDeclined: 'always',
  onReportUnavailable: 'always',
  onDone: 'given',
  onIncomeReportComplete: 'always',
  onIncomeReportFailure: 'always',
  onError: 'given',
  onWarning: 'always',
  handlePrintRequested: 'given',
  handleDownloadRequested: 'given',
};

/** Functions that call the newest functions of the parent. */
function callbacksOf(latest: RefObject<Callbacks>): Callbacks {
  const names = (Object.keys(CALLBACKS) as CallbackName[]).filter(
    (name) => CALLBACKS[name] === 'always' || latest.current[name] !== undefined,
  );
  return Object.fromEntries(
    names.map((name) => [
      name,
      (payload: never) => (latest.current[name] as ((payload: never) => void) | undefined)?.(payload),
    ]),
  );
}

/** Everything but the callbacks, in an order of its own. */
function viewOptionsOf({ view = 'screening', ...options }: ScreeningProps): object {
  const { screeningId, unitAddress, userType, endUserType, applicationFee, productId, prefill } = options;
  return { view, screeningId, unitAddress, userType, endUserType, applicationFee, productId, prefill };
}

function initOptionsOf(latest: RefObject<ScreeningProviderProps>): InitOptions {
  const { baseUrl, embeddedUrl, sessionToken, locale, appearance } = latest.current;
  const newest = async (): Promise<string> => {
    const { sessionToken: given } = latest.current;
    return typeof given === 'function' ? given() : (given ?? '');
  };
  return {
    baseUrl,
    ...(embeddedUrl !== undefined && { embeddedUrl }),
    ...(sessionToken !== undefined && { sessionToken: typeof sessionToken === 'function' ? newest : sessionToken }),
    ...(locale !== undefined && { locale }),
    ...(appearance !== undefined && { appearance }),
  };
}

/** The newest value, for functions that run after the render. */
function useLatest<Value>(value: Value): RefObject<Value> {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function reportInConsole({ code, message }: CallbackPayloads['onError']): void {
  // eslint-disable-next-line no-console -- the author of the page would see an empty element and no reason
  console.error(`Screening: ${code}: ${message}`);
}
