// Shows the person's current screen, in their language and in the page's colours.
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FrameSettings } from '../contract/frame-settings.js';
import { type Language, languageOf } from '../contract/language.js';
import type { Area, Dress, FrameStart } from '../contract/messages.js';
import { TITLES } from '../contract/titles.js';
import type { Api } from './api/api.js';
import type { ScreeningOptions } from './api/wire.js';
import { applyAppearance } from './appearance.js';
import { Flow, type FlowParts, type Shown } from './flow.js';
import { tellGeometry } from './geometry.js';
import { LanguageContext } from './parts/language.js';
import { Layout } from './parts/layout.js';
import { Skeleton } from './parts/skeleton.js';
import { TakesFocus } from './parts/step.js';
import type { Place } from './place.js';
import { progressOf } from './progress.js';
import { Crashed, Failed } from './screens.js';
import { SCREENS } from './steps/steps.js';

export interface AppProps {
  readonly settings: FrameSettings;
  readonly start: FrameStart;
  readonly api: Api;
  readonly emit: FlowParts['emit'];
  readonly known: (sessionId: string) => void;
  readonly showFocus: (area: Area) => void;
  /** Registers the function that receives another language or appearance. */
  readonly onDress: (wear: (dress: Dress) => void) => void;
}

export function App({ settings, start, api, emit, known, showFocus, onDress }: AppProps) {
  const [dress, setDress] = useState<Dress>(start);
  const language = languageOf([dress.locale, ...navigator.languages]);
  const title = TITLES[start.view][language];
  const [shown, show] = useState<Shown>({ kind: 'loading' });
  const flow = useMemo(() => new Flow({ settings, start, api, language, emit, known, show }), []);

  useLayoutEffect(() => {
    document.documentElement.lang = language;
    document.title = title;
    void flow.speak(language);
  }, [language]);
  useLayoutEffect(() => applyAppearance(dress.appearance), [dress.appearance]);
  useEffect(() => {
    onDress(setDress);
    void flow.open();
    const unexpected = (): void => flow.fail('SYSTEM_INTERNAL_ERROR');
    // An error event without an error is a notice of the browser, such as the notice of a ResizeObserver that continues in the next frame.
    addEventListener('error', ({ error }) => {
      if (error) unexpected();
    });
    addEventListener('unhandledrejection', unexpected);
    return tellGeometry((height) => void emit({ name: 'onResize', payload: { height } }), showFocus);
  }, []);

  const journey = shown.kind === 'place' ? shown.journey : null;
  // The account's brand stays on the screen after a failure.
  const brand = useRef<ScreeningOptions['brand']>(undefined);
  brand.current = journey?.options.brand ?? brand.current;
  return (
    <LanguageContext.Provider value={language}>
      <Layout
        title={title}
        progress={progressOf(shown)}
        testMode={journey?.options.environment === 'test'}
        brand={brand.current}
      >
        <Screen
          key={shown.kind === 'place' ? screenOf(shown.place) : shown.kind}
          flow={flow}
          shown={shown}
          language={language}
        />
      </Layout>
    </LanguageContext.Provider>
  );
}

/** The question about sharing appears below the report. */
function screenOf(place: Place): Place {
  return place === 'share' ? 'report' : place;
}

interface ScreenProps {
  readonly flow: Flow;
  readonly shown: Shown;
  readonly language: Language;
}

function Screen({ flow, shown, language }: ScreenProps) {
  if (shown.kind === 'loading') return <Skeleton />;
  if (shown.kind === 'failed')
    return (
      <TakesFocus.Provider value={!shown.first}>
        <Failed language={language} shown={shown} />
      </TakesFocus.Provider>
    );
  const Step = SCREENS[shown.place];
  return (
    <TakesFocus.Provider value={!shown.first}>
      <Boundary failed={() => flow.fail('COMPONENT_RENDER_FAILED')}>
        <Opened key={shown.place} tell={() => flow.shown(shown.place)} />
        {Step && <Step journey={shown.journey} />}
      </Boundary>
    </TakesFocus.Provider>
  );
}

/** Reports that a screen is shown, before the person can type into it. */
function Opened({ tell }: { readonly tell: () => void }) {
  useLayoutEffect(tell, []);
  return null;
}

interface BoundaryProps {
  readonly failed: () => void;
  readonly children: ComponentChildren;
}

/** Prevents a step that throws from breaking the whole frame. */
class Boundary extends Component<BoundaryProps, { readonly broken: boolean }> {
  override state = { broken: false };

  override componentDidCatch(): void {
    this.props.failed();
    this.setState({ broken: true });
  }

  override render(): ComponentChildren {
    return this.state.broken ? <Crashed again={() => this.setState({ broken: false })} /> : this.props.children;
  }
}
