// Passes every callback of the component to one listener, with the callback's name.
import type { CallbackName, CallbackPayloads } from '../contract/callbacks.js';
import type { Callbacks } from '../contract/options.js';

type Hear = (name: CallbackName, payload: CallbackPayloads[CallbackName]) => void;

/**
 * This type is a record, so that the compiler reports a missing callback. True means that the component does the work itself when no listener exists.
 */
const REPLACES_THE_COMPONENT: Record<CallbackName, boolean> = {
  onReady: false,
  onResize: false,
  onChange: false,
  onStepStart: false,
  onStepComplete: false,
  onVerificationSuccess: false,
  onVerificationFailure: false,
  onScreeningSuccess: false,
  onPaymentSuccess: false,
  onReportShared: false,
  onReportRevoked: false,
  onReportShareDeclined: false,
  onReportUnavailable: false,
  onDone: false,
  onIncomeReportComplete: false,
  onIncomeReportFailure: false,
  onError: false,
  onWarning: false,
  handlePrintRequested: true,
  handleDownloadRequested: true,
};

export function callbacks(hear: Hear, pageHandles: boolean): Callbacks {
  const names = (Object.keys(REPLACES_THE_COMPONENT) as CallbackName[]).filter(
    (name) => pageHandles || !REPLACES_THE_COMPONENT[name],
  );
  return Object.fromEntries(
    names.map((name) => [name, (payload: CallbackPayloads[CallbackName]) => hear(name, payload)]),
  );
}
