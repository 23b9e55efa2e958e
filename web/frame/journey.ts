// The data and the functions of every step of the frame. flow.ts creates them.
import type { CallbackPayloads, ComponentErrorCode } from '../contract/callbacks.js';
import type { FrameSettings } from '../contract/frame-settings.js';
import type { Language } from '../contract/language.js';
import type { FrameStart } from '../contract/messages.js';
import type { Api } from './api/api.js';
import type { Refusal, ScreeningOptions, Session, SessionStatus } from './api/wire.js';
import type { FieldName } from './steps/details/rules.js';

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
  /** The field of the earlier details that the person wants to correct. */
  readonly wrong: FieldName | null;
  /** Calls a callback of the page. */
  tell<Name extends keyof CallbackPayloads>(name: Name, payload: CallbackPayloads[Name]): void;
  /** Calls `onError` with a code of the component or an error of the API. Shows nothing. */
  fail(problem: ComponentErrorCode | Refusal): void;
  /** Asks the page to print or to download the report. False means that the page does neither, so the frame must print or download. */
  askPage(name: 'handlePrintRequested' | 'handleDownloadRequested', sessionId: string): Promise<boolean>;
  /** Calls `onDone`. False means that the page does not listen, so the person stays. */
  leave(): Promise<boolean>;
  /** Calls `onChange` for the current step. */
  changed(complete: boolean): void;
  /**
   * The current step has ended, with this session as its result. Calls `onStepComplete` when the step changes, and the callbacks of the outcome. Then
   * shows the session's present step, and fetches the session's status if needed.
   */
  follow(session: Session): Promise<void>;
  /** When the person may choose between codes and questions, shows the chosen step. From codes to questions, never back. */
  choose(step: 'otp' | 'kba'): void;
  /** The report was read: calls `onScreeningSuccess` once. `score` is null if the report has none, or if it cannot be read. */
  screened(score: number | null): void;
  /** The session cannot continue: shows the details of a new session. `wrong`: a field of the earlier details. */
  startAgain(wrong?: FieldName): void;
  /** The current step has ended without a change of the session: shows the next step. */
  next(): void;
}

export interface StepProps {
  readonly journey: Journey;
}

/** The texts of one step in each language. A missing key does not compile. */
export type Texts<Keys extends string> = Readonly<Record<Language, Readonly<Record<Keys, string>>>>;
