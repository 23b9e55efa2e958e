// Leads a person through the view: fetches the session's state, chooses the screen, and notifies the page. The class contains no markup; app.tsx
// shows the screens.
import type { CallbackPayloads, ComponentErrorCode } from '../contract/callbacks.js';
import { COMPONENT_ERRORS, componentError } from '../contract/codes.js';
import type { FrameSettings } from '../contract/frame-settings.js';
import type { Language } from '../contract/language.js';
import type { FrameEvent, FrameStart } from '../contract/messages.js';
import type { Answer, Api } from './api/api.js';
import type { Refusal, ScreeningOptions, Session, SessionStatus } from './api/wire.js';
import type { Journey } from './journey.js';
import { PARTS } from './parts/texts.js';
import { firstPlace, isStep, type Place, placeOf } from './place.js';
import { settle } from './settle.js';
import type { FieldName } from './steps/details/rules.js';

export type Shown =
  | { readonly kind: 'loading' }
  /** No screen can be shown. `again`: the action when the person tries again. */
  | {
      readonly kind: 'failed';
      readonly problem: Refusal;
      readonly again: (() => void) | null;
      /** The account's contact for help, if it is already known. */
      readonly support?: string | null | undefined;
      /** True if no screen was shown before. */
      readonly first: boolean;
    }
  | { readonly kind: 'place'; readonly place: Place; readonly first: boolean; readonly journey: Journey };

export interface FlowParts {
  readonly settings: FrameSettings;
  readonly start: FrameStart;
  readonly api: Api;
  readonly language: Language;
  /** Notifies the page. True means that the page listens. */
  readonly emit: (event: FrameEvent) => Promise<boolean>;
  /** The page stores the session, because the frame may load again. */
  readonly known: (sessionId: string) => void;
  readonly show: (shown: Shown) => void;
}

const TOLD_ONCE: readonly string[] = [
  'onReady',
  'onVerificationSuccess',
  'onVerificationFailure',
  'onScreeningSuccess',
  'onReportUnavailable',
] satisfies (keyof CallbackPayloads)[];

const UNSUPPORTED_VIEW: Refusal = {
  code: 'SYSTEM_CONFIGURATION_ERROR',
  ...COMPONENT_ERRORS.SYSTEM_CONFIGURATION_ERROR,
};

export class Flow {
  private start: FrameStart;
  private options: ScreeningOptions | null = null;
  private session: Session | SessionStatus | null = null;
  private place: Place | null = null;
  private wrong: FieldName | null = null;
  /** Callbacks that are called once, each with its session. */
  private readonly told = new Set<string>();

  private language: Language;

  constructor(private readonly parts: FlowParts) {
    this.start = parts.start;
    this.language = parts.language;
  }

  /** The page wants another language. Typed text stays. */
  async speak(language: Language): Promise<void> {
    if (language === this.language) return;
    this.language = language;
    this.showAgain();
    const options = await this.askOptions();
    if (!options.ok || language !== this.language) return;
    this.options = options.body;
    this.showAgain();
  }

  async open(): Promise<void> {
    const { start, show } = this.parts;
    show({ kind: 'loading' });
    const [options, session] = await Promise.all([
      this.askOptions(),
      start.screeningId === null || start.view === 'income' ? null : this.ask(start.screeningId),
    ]);
    // Recipients of a shared report may see the report, but not the report's session.
    const ofRecipient = start.view === 'report' && session?.status === 404;
    const failure = [options, ofRecipient ? null : session].find((answer) => answer && !answer.ok);
    if (failure && !failure.ok) return this.stop(failure.error, () => void this.open());
    if (options.ok) this.begin(options.body, session?.ok ? session.body : null);
  }

  private begin(options: ScreeningOptions, session: SessionStatus | null): void {
    const { start } = this.parts;
    this.options = options;
    this.session = session;
    const settled = settle(start, options, new Date());
    this.start = {
      ...settled.start,
      userType: this.session && 'userType' in this.session ? this.session.userType : settled.start.userType,
    };
    for (const warning of settled.warnings) this.tell('onWarning', warning);
    const place = firstPlace(start.view, this.start.userType, this.session);
    if (place === null) return this.stop(UNSUPPORTED_VIEW, null);
    if (place === 'details' && !options.userTypes.includes(this.start.userType))
      return this.stop(
        { code: 'PRODUCT_NOT_ENABLED', message: 'The account may not screen this kind of user.', recoverable: false },
        null,
      );
    this.go(place);
  }

  /** A screen is shown. After the first screen, the component is ready. */
  shown(place: Place): void {
    this.tell('onReady', { view: this.start.view });
    this.tellStanding(place);
    if (isStep(place)) this.tell('onStepStart', { step: place });
  }

  /** `problem`: a code of the component, or the API's error. */
  fail(problem: ComponentErrorCode | Refusal): void {
    const { code, message, recoverable } = typeof problem === 'string' ? componentError(problem) : problem;
    // In the view `report`, the page receives only PAYMENT_REQUIRED of the API's errors. The page receives failures of the component itself in every
    // view.
    if (this.start.view === 'report' && !Object.hasOwn(COMPONENT_ERRORS, code)) return;
    this.tell('onError', { code, message, ...(recoverable === undefined ? {} : { recoverable }) });
  }

  private readonly tell = <Name extends keyof CallbackPayloads>(name: Name, payload: CallbackPayloads[Name]): void => {
    if (TOLD_ONCE.includes(name)) {
      const {
        sessionId = '',
        reasonCode = '',
        score,
      } = payload as { sessionId?: string; reasonCode?: string; score?: number };
      // A report that the bureau refused at first may arrive later, with its score.
      const about = [name, sessionId, name === 'onReportUnavailable' && reasonCode, score !== undefined].join(' ');
      if (this.told.has(about)) return;
      this.told.add(about);
    }
    void this.parts.emit({ name, payload } as FrameEvent);
  };

  private readonly follow = async (session: Session): Promise<void> => {
    this.session = session;
    this.parts.known(session.id);
    const known = session.status !== 'VERIFIED' && (session.status !== 'BLOCKED' || session.reasonCode !== undefined);
    if (!known) {
      const status = await this.ask(session.id);
      // The status may be older than the reply to a step.
      if (status.ok)
        this.session = { ...status.body, ...(session.status === 'VERIFIED' ? { status: 'VERIFIED' } : {}) };
      else if (session.status === 'VERIFIED') return this.stop(status.error, () => this.followAgain(session));
    }
    this.move(placeOf(this.session, this.start.userType, this.place));
  };

  private followAgain(session: Session): void {
    this.parts.show({ kind: 'loading' });
    void this.follow(session);
  }

  private readonly next = (): void => {
    switch (this.place) {
      case 'report':
        return this.move('share');
      case 'share':
        // The last screen stays, because the person can revoke the share on it.
        return this.tell('onStepComplete', { step: 'share' });
      case 'income':
        return this.move('done');
      case 'payment':
        return void this.paid();
      case 'ended':
        return this.startAgain();
      default:
        if (this.session) void this.follow(this.session);
    }
  };

  private readonly startAgain = (wrong: FieldName | null = null): void => {
    this.session = null;
    this.wrong = wrong;
    this.go('details');
  };

  private readonly choose = (step: 'otp' | 'kba'): void => {
    // A person who changes to the questions has not completed the code.
    if (this.place === 'choice') this.move(step);
    else this.go(step);
  };

  /** The step reports that the session is paid. The report is the next step, even if the status is still older. */
  private async paid(): Promise<void> {
    const status = this.session && (await this.ask(this.session.id));
    if (status?.ok) this.session = status.body;
    this.move('report');
  }

  /** The person has read a report, or is verified and need not pay for a report. A status that says otherwise is out of date. */
  private readonly screened = (score: number | null): void => {
    if (!this.session) return;
    const { id: sessionId } = this.session;
    this.tell('onScreeningSuccess', { sessionId, overallStatus: 'COMPLETED', ...(score === null ? {} : { score }) });
  };

  private move(place: Place): void {
    const { place: before } = this;
    const isOver = place !== 'ended' && !(before === 'report' && place === 'payment');
    if (before && before !== place && isStep(before) && isOver) this.tell('onStepComplete', { step: before });
    this.go(place);
  }

  private go(place: Place): void {
    const first = this.place === null;
    this.place = place;
    // At the start of the view, the page must first receive `onReady`.
    if (!first) this.tellStanding(place);
    this.parts.show({ kind: 'place', place, first, journey: this.journey(place) });
  }

  private showAgain(): void {
    const { place } = this;
    if (place !== null) this.parts.show({ kind: 'place', place, first: false, journey: this.journey(place) });
  }

  private tellStanding(place: Place): void {
    const { session } = this;
    if (!session || this.start.view !== 'screening') return;
    const { id: sessionId, status, reasonCode } = session;
    if (status === 'VERIFIED') this.tell('onVerificationSuccess', { sessionId, status });
    if (status === 'BLOCKED' || status === 'EXPIRED' || status === 'ERROR')
      this.tell('onVerificationFailure', { sessionId, status, ...(reasonCode ? { reasonCode } : {}) });
    if (place === 'verified') this.screened(null);
  }

  private journey(place: Place): Journey {
    const { settings, api, emit } = this.parts;
    const { language, start, options, session, wrong, tell, follow, choose, startAgain, next, screened } = this;
    if (!options) throw new Error('A screen is shown before the options are there.');
    return {
      settings,
      start,
      options,
      api,
      language,
      session,
      wrong,
      tell,
      follow,
      choose,
      startAgain,
      next,
      screened,
      fail: (problem) => this.fail(problem),
      account: options.brand?.displayName ?? PARTS[language].theCompany,
      askPage: (name, sessionId) => emit({ name, payload: { sessionId } }),
      leave: () => emit({ name: 'onDone', payload: { sessionId: session?.id ?? start.screeningId } }),
      changed: (complete) => {
        if (isStep(place)) tell('onChange', { step: place, complete });
      },
    };
  }

  private stop(problem: Refusal, again: (() => void) | null): void {
    this.fail(problem);
    const { support } = this.options ?? {};
    this.parts.show({ kind: 'failed', problem, again, support, first: this.place === null });
  }

  private askOptions(): Promise<Answer<ScreeningOptions>> {
    return this.parts.api.call({ method: 'GET', path: `/screening/options?language=${this.language}` });
  }

  private ask(id: string): Promise<Answer<SessionStatus>> {
    return this.parts.api.call({ method: 'GET', path: `/screening/${encodeURIComponent(id)}/status` });
  }
}
