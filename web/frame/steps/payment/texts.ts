import type { Texts } from '../../journey.js';

/** A problem with a payment, as the person reads it. */
export type Problem =
  | 'declined'
  | 'insufficientFunds'
  | 'expiredCard'
  | 'wrongNumber'
  | 'wrongCode'
  | 'notSupported'
  | 'tooOften'
  | 'bankBusy'
  | 'notAuthenticated'
  | 'incomplete'
  | 'notPaid';

type Key =
  | 'title'
  | 'why'
  | 'refunded'
  | 'order'
  | 'applicationFee'
  | 'amount'
  | 'once'
  | 'whoSeesTheCard'
  | 'opening'
  | 'pay'
  | 'paying'
  | 'processing'
  | 'stayOrLeave'
  | 'comeBack'
  | 'checkAgain'
  | 'unavailable'
  | 'tryAgain'
  | Problem;

/** `{amount}` stands for the price with its currency, `{date}` for a day. */
export const TEXTS: Texts<Key> = {
  en: {
    title: 'Pay for your screening',
    why: 'Your identity is confirmed. Your report is ready for you as soon as you have paid.',
    refunded:
      'We gave your earlier payment back to you on {date}. You have not been charged since. To get your report, pay again.',
    order: 'Identity check, credit report, background',
    applicationFee: 'Application fee',
    amount: 'Amount to pay',
    once: 'You will be charged once.',
    whoSeesTheCard: 'Your card details go straight to the payment processor. We never see them.',
    opening: 'Opening the payment form…',
    pay: 'Pay {amount}',
    paying: 'Paying…',
    processing: 'Your payment is being processed.',
    stayOrLeave: 'This can take a moment. You need not pay again.',
    comeBack: 'It takes longer than usual. You can check again now, or come back later. You need not pay again.',
    checkAgain: 'Check again',
    unavailable:
      'We could not go on with the payment. Check your connection and try again: you are never charged twice.',
    tryAgain: 'Try again',
    declined: 'Your bank declined the card. You have not been charged. Try another card, or ask your bank.',
    insufficientFunds: 'The card does not have enough funds. You have not been charged. Try another card.',
    expiredCard: 'The card has expired. Try another card.',
    wrongNumber: 'The card number is not right. Check it and try again.',
    wrongCode: 'The security code is not right. Check it and try again.',
    notSupported: 'This card cannot be used for this payment. Try another card.',
    tooOften: 'The card was tried too often. Try another card, or come back later.',
    bankBusy: 'The bank could not process the payment right now. You have not been charged. Try again in a moment.',
    notAuthenticated:
      'Your bank could not confirm that it is you. You have not been charged. Try again, or use another card.',
    incomplete: 'Some card details are missing or not right. Check them and try again.',
    notPaid: 'The payment did not go through. Try again, or use another card.',
  },
  es: {
    title: 'Pague la evaluación',
    why: 'Su identidad está confirmada. Podrá ver su informe en cuanto pague.',
    refunded:
      'El {date} le devolvimos su pago anterior. Desde entonces no se le cobró nada. Para ver su informe, pague otra vez.',
    order: 'Verificación de identidad, informe de crédito, antecedentes',
    applicationFee: 'Tarifa de solicitud',
    amount: 'Monto',
    once: 'Se le cobrará una sola vez.',
    whoSeesTheCard: 'Los datos de su tarjeta van directamente al procesador de pagos. Nosotros nunca los vemos.',
    opening: 'Abriendo el formulario de pago…',
    pay: 'Pagar {amount}',
    paying: 'Pagando…',
    processing: 'Estamos procesando su pago.',
    stayOrLeave: 'Puede tardar un momento. No es necesario que pague otra vez.',
    comeBack:
      'Está tardando más de lo normal. Puede comprobarlo de nuevo ahora o volver más tarde. No es necesario que pague otra vez.',
    checkAgain: 'Comprobar de nuevo',
    unavailable:
      'No pudimos continuar con el pago. Revise su conexión e inténtelo de nuevo: nunca se le cobrará dos veces.',
    tryAgain: 'Intentar de nuevo',
    declined: 'Su banco rechazó la tarjeta. No se le cobró nada. Use otra tarjeta o consulte con su banco.',
    insufficientFunds: 'La tarjeta no tiene fondos suficientes. No se le cobró nada. Use otra tarjeta.',
    expiredCard: 'La tarjeta está vencida. Use otra tarjeta.',
    wrongNumber: 'El número de la tarjeta no es correcto. Revíselo e inténtelo de nuevo.',
    wrongCode: 'El código de seguridad no es correcto. Revíselo e inténtelo de nuevo.',
    notSupported: 'Esta tarjeta no sirve para este pago. Use otra tarjeta.',
    tooOften: 'La tarjeta se usó demasiadas veces. Use otra tarjeta o vuelva más tarde.',
    bankBusy:
      'El banco no pudo procesar el pago en este momento. No se le cobró nada. Inténtelo de nuevo en unos minutos.',
    notAuthenticated:
      'Su banco no pudo confirmar que es usted. No se le cobró nada. Inténtelo de nuevo o use otra tarjeta.',
    incomplete: 'Faltan datos de la tarjeta o no son correctos. Revíselos e inténtelo de nuevo.',
    notPaid: 'El pago no se realizó. Inténtelo de nuevo o use otra tarjeta.',
  },
};
