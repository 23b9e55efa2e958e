// The readers of both ends of the port. The readers copy a value field by field and freeze the copy; a value of the wrong shape becomes null.
// Callbacks, fields and kinds that are not listed here are dropped.
import type { CallbackName, CallbackPayloads, UserType } from './callbacks.js';
import { type Area, type Dress, type FrameEvent, type FrameStart, PROTOCOL, type Token } from './messages.js';
import {
  readAppearance,
  readApplicationFee,
  readCode,
  readEndUserType,
  readId,
  readIncomeRoute,
  readLocale,
  readMessage,
  readPrefill,
  readProductId,
  readStep,
  readUnitAddress,
  readUserType,
  readUuid,
  readVerificationStatus,
  readView,
  readWarningCode,
} from './read-values.js';
import { boolean, fields, integer, list, nullable, type Reader, text, total, withDefault } from './readers.js';

export const MIN_HEIGHT = 200;
const HIGHEST = 100_000;

type Payload<Name extends CallbackName> = CallbackPayloads[Name];

/** Whole pixels, and at least the component's smallest height. */
const height: Reader<number> = (value) =>
  typeof value === 'number' && value >= 0 && value <= HIGHEST ? Math.max(MIN_HEIGHT, Math.ceil(value)) : undefined;
const sessionOnly = fields<{ readonly sessionId: string }>({ sessionId: readId }, {});
const sharing = fields<Payload<'onReportShared'>>(
  { sessionId: readId, reportId: readId, recipientAccountId: readId },
  {},
);

const PAYLOAD_READERS: { readonly [Name in CallbackName]: Reader<Payload<Name>> } = {
  onReady: fields<Payload<'onReady'>>({ view: readView }, {}),
  onResize: fields<Payload<'onResize'>>({ height }, {}),
  onChange: fields<Payload<'onChange'>>({ step: readStep, complete: boolean }, {}),
  onStepStart: fields<Payload<'onStepStart'>>({ step: readStep }, {}),
  onStepComplete: fields<Payload<'onStepComplete'>>({ step: readStep }, {}),
  onVerificationSuccess: fields<Payload<'onVerificationSuccess'>>(
    { sessionId: readId, status: readVerificationStatus },
    {},
  ),
  onVerificationFailure: fields<Payload<'onVerificationFailure'>>(
    { sessionId: nullable(readId), status: readVerificationStatus },
    { reasonCode: readCode },
  ),
  onScreeningSuccess: fields<Payload<'onScreeningSuccess'>>(
    { sessionId: readId, overallStatus: readCode },
    { score: integer(0, 10_000) },
  ),
  onPaymentSuccess: fields<Payload<'onPaymentSuccess'>>(
    { sessionId: readId, transactionId: readId, amount: integer(0), currency: text(3, /^[a-z]{3}$/) },
    {},
  ),
  onReportShared: sharing,
  onReportRevoked: sharing,
  onReportShareDeclined: sessionOnly,
  onReportUnavailable: fields<Payload<'onReportUnavailable'>>({ sessionId: readId, reasonCode: readCode }, {}),
  onDone: fields<Payload<'onDone'>>({ sessionId: nullable(readId) }, {}),
  onIncomeReportComplete: fields<Payload<'onIncomeReportComplete'>>(
    { incomeSessionId: readId, route: readIncomeRoute },
    {},
  ),
  onIncomeReportFailure: fields<Payload<'onIncomeReportFailure'>>(
    { incomeSessionId: readId, route: readIncomeRoute, reasonCode: readCode },
    {},
  ),
  onError: fields<Payload<'onError'>>({ code: readCode, message: readMessage }, { recoverable: boolean }),
  onWarning: fields<Payload<'onWarning'>>(
    { code: readWarningCode, message: readMessage },
    { fields: list(50, text(50, /^[a-z]+$/i)) },
  ),
  handlePrintRequested: sessionOnly,
  handleDownloadRequested: sessionOnly,
};

export const CALLBACK_NAMES = Object.keys(PAYLOAD_READERS) as readonly CallbackName[];

/** For the page: a callback from the frame. */
export const readFrameEvent = orNull(
  total<FrameEvent>((value) => {
    const { name, payload } = value as { name: unknown; payload: unknown };
    const known = CALLBACK_NAMES.find((callback) => callback === name);
    const read = known && PAYLOAD_READERS[known](payload);
    return read && (Object.freeze({ name: known, payload: read }) as FrameEvent);
  }),
);

/** For the page: the area that it must show. */
export const readArea = orNull(total(fields<Area>({ top: integer(0, HIGHEST), bottom: integer(0, HIGHEST) }, {})));

const tokenFields = fields<Token>({ token: text(8_192, /^[\w.-]+$/), expiresAt: integer(0) }, {});

/** For the frame: a token from the page. */
export const readToken = orNull(total(tokenFields));

const DRESS = { locale: withDefault(null, nullable(readLocale)), appearance: withDefault({}, readAppearance) };

/** For the frame: another language or look. */
export const readDress = orNull(total(fields<Dress>(DRESS, {})));

/** For the frame: the first message of the page. Also null if the page uses another protocol. */
export const readFrameStart = orNull(
  total(
    fields<FrameStart>(
      {
        protocol: withDefault(PROTOCOL, integer(PROTOCOL, PROTOCOL)),
        view: readView,
        token: tokenFields,
        unitAddress: withDefault(null, nullable(readUnitAddress)),
        userType: withDefault<UserType>('CONSUMER', readUserType),
        endUserType: withDefault(null, nullable(readEndUserType)),
        applicationFee: withDefault(null, nullable(readApplicationFee)),
        productId: withDefault(null, nullable(readProductId)),
        screeningId: withDefault(null, nullable(readUuid)),
        prefill: withDefault({}, readPrefill),
        ...DRESS,
      },
      {},
    ),
  ),
);

function orNull<T>(read: Reader<T>): (value: unknown) => T | null {
  return (value) => read(value) ?? null;
}
