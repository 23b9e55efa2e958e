// The texts of the pages, in both languages.
import type { Language } from '../look.js';

const EN = {
  card: 'Card',
  number: 'Card number',
  expiry: 'Expiration date',
  expiryHint: 'MM / YY',
  cvc: 'Security code',
  cvcHint: 'CVC',
  postalCode: 'ZIP code',
  authentication: 'Authenticate your payment',
  explanation: 'This page stands for the one of your bank. Nothing is charged in the sandbox.',
  complete: 'Complete',
  fail: 'Fail',
};

const ES: typeof EN = {
  card: 'Tarjeta',
  number: 'Número de tarjeta',
  expiry: 'Fecha de vencimiento',
  expiryHint: 'MM / AA',
  cvc: 'Código de seguridad',
  cvcHint: 'CVC',
  postalCode: 'Código postal',
  authentication: 'Autentique su pago',
  explanation: 'Esta página representa la de su banco. En el entorno de pruebas no se cobra nada.',
  complete: 'Completar',
  fail: 'Rechazar',
};

export const TEXTS: Readonly<Record<Language, typeof EN>> = { en: EN, es: ES };

/** Keyed by the code of an error, or by its decline code. */
export const MESSAGES: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  en: {
    incomplete_number: 'Your card number is incomplete.',
    invalid_number: 'Your card number is invalid.',
    incorrect_number: 'Your card number is incorrect.',
    incomplete_expiry: "Your card's expiration date is incomplete.",
    invalid_expiry_year_past: "Your card's expiration date is in the past.",
    incomplete_cvc: "Your card's security code is incomplete.",
    incorrect_cvc: "Your card's security code is incorrect.",
    incomplete_zip: 'Your ZIP code is incomplete.',
    card_declined: 'Your card has been declined.',
    insufficient_funds: 'Your card has insufficient funds. Try a different card.',
    test_mode_live_card: 'Your card was declined. The sandbox takes its test cards only.',
    expired_card: 'Your card has expired.',
    processing_error: 'An error occurred while processing your card. Try again in a little bit.',
    payment_intent_authentication_failure:
      'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
    api_connection_error: 'We could not reach the payment provider. Check your internet connection and try again.',
  },
  es: {
    incomplete_number: 'El número de la tarjeta está incompleto.',
    invalid_number: 'El número de la tarjeta no es válido.',
    incorrect_number: 'El número de la tarjeta es incorrecto.',
    incomplete_expiry: 'La fecha de vencimiento está incompleta.',
    invalid_expiry_year_past: 'La fecha de vencimiento ya pasó.',
    incomplete_cvc: 'El código de seguridad está incompleto.',
    incorrect_cvc: 'El código de seguridad es incorrecto.',
    incomplete_zip: 'El código postal está incompleto.',
    card_declined: 'Su tarjeta fue rechazada.',
    insufficient_funds: 'Su tarjeta no tiene fondos suficientes. Pruebe con otra tarjeta.',
    test_mode_live_card: 'Su tarjeta fue rechazada. El entorno de pruebas solo acepta sus tarjetas de prueba.',
    expired_card: 'Su tarjeta venció.',
    processing_error: 'Ocurrió un error al procesar su tarjeta. Inténtelo de nuevo en unos momentos.',
    payment_intent_authentication_failure:
      'No pudimos autenticar su método de pago. Elija otro método de pago e inténtelo de nuevo.',
    api_connection_error: 'No pudimos conectar con el proveedor de pagos. Revise su conexión e inténtelo de nuevo.',
  },
};
