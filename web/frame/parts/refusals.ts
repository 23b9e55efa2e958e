// Messages for people when the API refuses. A step may have better messages for some codes; this file has all others.
import type { Language } from '../../contract/language.js';
import type { Answer } from '../api/api.js';
import type { Refusal } from '../api/wire.js';
import type { Texts } from '../journey.js';
import { fill } from './language.js';
import { PARTS } from './texts.js';

const REFUSALS = {
  en: {
    SERVICE_UNAVAILABLE: 'The service cannot be reached right now. Please try again in a moment.',
    UPSTREAM_TIMEOUT: 'We got no answer in time. Please try again.',
    NETWORK_RATE_LIMITED: 'Too many attempts in a short time. Please wait a moment, and then try again.',
    TOO_MANY_ATTEMPTS: 'There were too many attempts. Please try again later.',
    AUTH_TOKEN_INVALID: 'Your visit to this page has expired. Please reload the page.',
    AUTH_FORBIDDEN: 'This is not possible on this page. Please contact whoever sent you to this page.',
    SESSION_EXPIRED: 'This verification has expired. Please start again.',
    USER_BLOCKED: 'We cannot continue with this verification.',
    IDENTITY_NOT_FOUND: 'We could not confirm your identity with the details that you entered.',
    ALREADY_REGISTERED: 'There is a completed screening for you already, so there is no need for another one.',
    MINOR_CONSUMER: 'You have to be at least 18 years old.',
    PRODUCT_NOT_ENABLED: 'This screening is not available here. Please contact whoever sent you to this page.',
    ACCOUNT_NOT_PROVISIONED: 'Screenings are not available here yet. Please contact whoever sent you to this page.',
    SYSTEM_CONFIGURATION_ERROR: 'This is not available here. Please contact whoever sent you to this page.',
    NOT_FOUND: 'This screening could not be found. Please contact whoever sent you to this page.',
    VALIDATION_ERROR: 'Please check what you entered.',
    default: 'Something went wrong on our side. Please try again later.',
    wait: 'You can try again in {time}.',
  },
  es: {
    SERVICE_UNAVAILABLE: 'El servicio no está disponible en este momento. Inténtelo de nuevo en un momento.',
    UPSTREAM_TIMEOUT: 'No recibimos respuesta a tiempo. Inténtelo de nuevo.',
    NETWORK_RATE_LIMITED: 'Demasiados intentos en poco tiempo. Espere un momento y vuelva a intentarlo.',
    TOO_MANY_ATTEMPTS: 'Hubo demasiados intentos. Inténtelo de nuevo más tarde.',
    AUTH_TOKEN_INVALID: 'Su visita a esta página venció. Vuelva a cargar la página.',
    AUTH_FORBIDDEN: 'Esto no es posible en esta página. Comuníquese con quien le dio el enlace.',
    SESSION_EXPIRED: 'Esta verificación venció. Comience de nuevo.',
    USER_BLOCKED: 'No podemos continuar con esta verificación.',
    IDENTITY_NOT_FOUND: 'No pudimos confirmar su identidad con los datos que ingresó.',
    ALREADY_REGISTERED: 'Ya existe una evaluación completa a su nombre, así que no necesita otra.',
    MINOR_CONSUMER: 'Debe tener al menos 18 años.',
    PRODUCT_NOT_ENABLED: 'Esta evaluación no está disponible aquí. Comuníquese con quien le dio el enlace.',
    ACCOUNT_NOT_PROVISIONED: 'Las evaluaciones aún no están disponibles aquí. Comuníquese con quien le dio el enlace.',
    SYSTEM_CONFIGURATION_ERROR: 'Esto no está disponible aquí. Comuníquese con quien le dio el enlace.',
    NOT_FOUND: 'No se encontró esta evaluación. Comuníquese con quien le dio el enlace.',
    VALIDATION_ERROR: 'Revise los datos que ingresó.',
    default: 'Algo salió mal por nuestra parte. Inténtelo más tarde.',
    wait: 'Puede intentarlo de nuevo en {time}.',
  },
} satisfies Texts<string>;

export function refusalText(
  language: Language,
  refusal: Pick<Refusal, 'code'>,
  retryAfterSeconds: number | null = null,
): string {
  const texts: Readonly<Record<string, string>> = REFUSALS[language];
  const text = (Object.hasOwn(texts, refusal.code) ? texts[refusal.code] : null) ?? REFUSALS[language].default;
  if (retryAfterSeconds === null) return text;
  return `${text} ${fill(REFUSALS[language].wait, { time: duration(language, retryAfterSeconds) })}`;
}

/** The message for a refused call. */
export function answerText(language: Language, answer: Extract<Answer<unknown>, { ok: false }>): string {
  return refusalText(language, answer.error, answer.status === 429 ? answer.retryAfterSeconds : null);
}

export function duration(language: Language, seconds: number): string {
  const texts = PARTS[language];
  if (seconds < 60) return fill(texts.seconds, { count: seconds });
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? texts.minute : fill(texts.minutes, { count: minutes });
}
