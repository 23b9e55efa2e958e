// What every step of the frame is given, and what it may do. app.tsx makes it.
import type { CallbackPayloads } from '../contract/callbacks.js';
import type { ComponentErrorCode } from '../contract/codes.js';
import type { FrameSettings } from '../contract/frame-settings.js';
import type { Language } from '../contract/language.js';
import type { FrameStart } from '../contract/messages.js';
import type { Api } from './api/api.js';
import type { Refusal, ScreeningOptions, Session, SessionStatus } from './api/wire.js';

export interface Journey {
  readonly settings: FrameSettings;
  readonly start: FrameStart;
  readonly options: ScreeningOptions;
  readonly api: Api;
  readonly language: Language;
  /** What the API told last; null before a submission. */
  readonly session: Session | SessionStatus | null;
  /** Causes a callback of the page. */
  tell<Name extends keyof CallbackPayloads>(name: Name, payload: CallbackPayloads[Name]): void;
  /** Causes `onError` with a code of the component or with a refusal of the API. Shows nothing. */
  fail(problem: ComponentErrorCode | Refusal): void;
  /** Asks the page to print or to download the report. False: it does not, so the frame must. */
  askPage(name: 'handlePrintRequested' | 'handleDownloadRequested', sessionId: string): Promise<boolean>;
  /** Causes `onChange` of the step that is shown. */
  changed(complete: boolean): void;
  /**
   * The step that is shown has done its part, and this is how the session stands now: `onStepComplete` where the step changes, the
   * callbacks of the outcome, and on to the step where the session stands (asks for its status where it must).
   */
  follow(session: Session): Promise<void>;
  /** Where codes and questions are offered: on to the one that the person chose. From codes to questions, never back. */
  choose(step: 'otp' | 'kba'): void;
  /** The report has been read: causes `onScreeningSuccess`, once. `score` null: there is none, or it cannot be read. */
  screened(score: number | null): void;
  /** The session leads no further: on to the details of a new one. */
  startAgain(): void;
  /** The step that is shown is over, and the session has no more of it: on to the one after it. */
  next(): void;
}

export interface StepProps {
  readonly journey: Journey;
}

/** Texts of one step in each language; a key that is missing in one does not compile. */
export type Texts<Keys extends string> = Readonly<Record<Language, Readonly<Record<Keys, string>>>>;
