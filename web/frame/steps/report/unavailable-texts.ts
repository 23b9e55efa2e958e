import type { Texts } from '../../journey.js';

/** The bureau's reason for giving no report: the `reasonCode` of the refusal. */
export type UnavailableReason = 'FILE_FROZEN' | 'FILE_BLOCKED' | 'NO_RECORD' | 'MINOR' | 'FILE_CONDITION';

/**
 * A heading for each reason, and a text that says which company set the lock and where to lift it. VERIFY_AGAIN is not a reason of the bureau.
 * `{time}` stands for minutes or seconds.
 */
export const UNAVAILABLE: Texts<
  | UnavailableReason
  | `${UnavailableReason}_what`
  | 'VERIFY_AGAIN'
  | 'VERIFY_AGAIN_what'
  | 'title'
  | 'howToLift'
  | 'howToLiftUrl'
  | 'notChargedAgain'
  | 'costsNothing'
  | 'nothingToPay'
  | 'tryAgain'
  | 'verifyAgain'
  | 'wait'
  | 'ready'
> = {
  en: {
    title: 'Your report is not available yet',
    FILE_FROZEN: 'Your credit file is frozen',
    FILE_FROZEN_what:
      'You asked the credit bureau to freeze your file. Neither we nor the company that asked for the screening can lift the freeze. Lift it at the credit bureau (Equifax, Experian or TransUnion): it is free. Then try again here.',
    FILE_BLOCKED: 'Your credit file is blocked',
    FILE_BLOCKED_what:
      'The credit bureau has blocked your file: neither we nor the company that asked for the screening can lift that. Ask the credit bureau to lift the block. Then try again here.',
    NO_RECORD: 'The credit bureau has no file of yours',
    NO_RECORD_what:
      'The credit bureau has no file that matches your details, so there is no report. If you think that this is wrong, ask the credit bureau to correct it. Then try again here.',
    MINOR: 'The credit bureau has you as a minor',
    MINOR_what:
      'The credit bureau gives no reports about minors. If you are 18 or older, ask the credit bureau to correct your file. Then try again here.',
    FILE_CONDITION: 'The credit bureau gives no report',
    FILE_CONDITION_what:
      'The credit bureau does not give a report of your file as it is now. Ask the credit bureau why. Then try again here.',
    VERIFY_AGAIN: 'Please verify your identity again',
    VERIFY_AGAIN_what:
      'Your earlier verification can no longer be used to get your report from the credit bureau. Verify your identity again, and you get your report.',
    howToLift: 'How to lift a freeze',
    howToLiftUrl: 'https://www.usa.gov/credit-freeze',
    notChargedAgain: 'You will not be charged again.',
    costsNothing: 'Trying again costs you nothing.',
    nothingToPay: 'There is nothing to pay for the earlier verification. Verifying again costs nothing extra.',
    tryAgain: 'Try again',
    verifyAgain: 'Verify again',
    wait: 'You can try again in {time}. You can also leave this page and come back later.',
    ready: 'You can try again now.',
  },
  es: {
    title: 'Su informe aún no está disponible',
    FILE_FROZEN: 'Su historial de crédito está congelado',
    FILE_FROZEN_what:
      'Usted pidió a la agencia de crédito que congelara su historial. Ni nosotros ni la empresa que pidió la evaluación podemos quitar el congelamiento. Quítelo en la agencia de crédito (Equifax, Experian o TransUnion): es gratis. Después, inténtelo aquí de nuevo.',
    FILE_BLOCKED: 'Su historial de crédito está bloqueado',
    FILE_BLOCKED_what:
      'La agencia de crédito bloqueó su historial: ni nosotros ni la empresa que pidió la evaluación podemos desbloquearlo. Pida a la agencia de crédito que lo desbloquee. Después, inténtelo aquí de nuevo.',
    NO_RECORD: 'La agencia de crédito no tiene un historial suyo',
    NO_RECORD_what:
      'La agencia de crédito no tiene un historial que coincida con sus datos, así que no hay informe. Si cree que es un error, pida a la agencia de crédito que lo corrija. Después, inténtelo aquí de nuevo.',
    MINOR: 'Para la agencia de crédito, usted es menor de edad',
    MINOR_what:
      'La agencia de crédito no da informes sobre menores de edad. Si tiene 18 años o más, pídale que corrija su historial. Después, inténtelo aquí de nuevo.',
    FILE_CONDITION: 'La agencia de crédito no da el informe',
    FILE_CONDITION_what:
      'La agencia de crédito no da un informe de su historial tal como está ahora. Pregúntele por qué. Después, inténtelo aquí de nuevo.',
    VERIFY_AGAIN: 'Verifique su identidad de nuevo',
    VERIFY_AGAIN_what:
      'Su verificación anterior ya no sirve para pedir su informe a la agencia de crédito. Verifique su identidad de nuevo y recibirá su informe.',
    howToLift: 'Cómo quitar un congelamiento (en inglés)',
    howToLiftUrl: 'https://www.usa.gov/credit-freeze',
    notChargedAgain: 'No se le cobrará de nuevo.',
    costsNothing: 'Intentarlo de nuevo no le cuesta nada.',
    nothingToPay: 'No tiene que pagar nada por la verificación anterior. Verificar de nuevo no tiene costo adicional.',
    tryAgain: 'Intentar de nuevo',
    verifyAgain: 'Verificar de nuevo',
    wait: 'Puede intentarlo de nuevo en {time}. También puede salir de esta página y volver más tarde.',
    ready: 'Ya puede intentarlo de nuevo.',
  },
};
