// The data and the functions of every step of the frame. flow.ts makes them.
import type { CallbackPayloads, ComponentErrorCode } from '../contract/callbacks.js';
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
  /** The account's name, for people. */
  readonly account: string;
  /** The API's latest state; null before a submission. */
  readonly session: Session | SessionStatus | null;
  /** Triggers a callback of the page. */
  tell<Name extends keyof CallbackPayloads>(name: Name, payload: CallbackPayloads[Name]): void;
  /** Triggers `onError` with a code of the component or an error of the API. Shows nothing. */
  fail(problem: ComponentErrorCode | Refusal): void;
  /** Asks the page to print or to download the report. False: the page does not, so the frame must. */
  askPage(name: 'handlePrintRequested' | 'handleDownloadRequested', sessionId: string): Promise<boolean>;
  /** Triggers `onDone`. False: the page does not listen, so the person stays. */
  leave(): Promise<boolean>;
  /** Triggers `onChange` for the current step. */
  changed(complete: boolean): void;
  /**
   * The current step is done, with this session as its result. Triggers `onStepComplete` when the step changes, and the callbacks of
   * the outcome.
   * Then moves to the step where the session now is, and fetches its status if needed.
   */
  follow(session: Session): Promise<void>;
  /** Where the person may choose between codes and questions: moves to the chosen one. From codes to questions, never back. */
  choose(step: 'otp' | 'kba'): void;
  /** The report was read: triggers `onScreeningSuccess` once. `score` null: the report has none, or cannot be read. */
  screened(score: number | null): void;
  /** The session can go no further: moves to the details of a new one. */
  startAgain(): void;
  /** The current step is done without a change of the session: moves to the step after it. */
  next(): void;
}

export interface StepProps {
  readonly journey: Journey;
}

/** Texts of one step in each language. A missing key does not compile. */
export type Texts<Keys extends string> = Readonly<Record<Language, Readonly<Record<Keys, string>>>>;
