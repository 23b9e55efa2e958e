import type { Texts } from '../../journey.js';

/** `{until}` stands for a day, and `{account}` for the name of the recipient. */
export const SHARE_TEXTS: Texts<
  | 'question'
  | 'what'
  | 'share'
  | 'notNow'
  | 'declined'
  | 'declinedWhat'
  | 'shared'
  | 'sharedUntil'
  | 'stop'
  | 'sure'
  | 'sureWhat'
  | 'stopForGood'
  | 'keep'
  | 'revoked'
  | 'revokedWhat'
  | 'over'
  | 'overWhat'
  | 'expired'
  | 'problem'
  | 'unsure'
  | 'tryAgain'
  | 'stateUnknown'
> = {
  en: {
    question: 'Share with {account}?',
    what: 'They see your whole report as it is today, for up to 24 months. You can stop sharing at any time.',
    share: 'Share my report',
    notNow: 'Not now',
    declined: 'Your report was not shared',
    declinedWhat: 'You can still share it with {account} whenever you like.',
    shared: 'Your report is shared',
    sharedUntil: 'It can be seen by {account} until {until}, unless you stop sharing before.',
    stop: 'Stop sharing',
    sure: 'Stop sharing for good?',
    sureWhat:
      'The share ends at once, and {account} can no longer open this report through it. This cannot be undone: you cannot share this report with them again.',
    stopForGood: 'Stop sharing for good',
    keep: 'Keep sharing',
    revoked: 'You have stopped sharing your report',
    revokedWhat: 'This report cannot be shared again with {account}.',
    over: 'Your report is no longer shared',
    overWhat: 'The time for which you had shared it is over.',
    expired: 'The report has expired and can no longer be shared. A new screening makes a new one.',
    unsure: 'We do not know whether that worked. Try again in a moment: nothing is done twice.',
    problem: 'That did not work. Nothing has changed: try again in a moment.',
    tryAgain: 'Try again',
    stateUnknown: 'We could not find out whether the report is shared.',
  },
  es: {
    question: '¿Compartir con {account}?',
    what: 'Podrá ver su informe completo tal como está hoy, durante un máximo de 24 meses. Puede dejar de compartirlo cuando quiera.',
    share: 'Compartir mi informe',
    notNow: 'Ahora no',
    declined: 'No se compartió su informe',
    declinedWhat: 'Todavía puede compartirlo con {account} cuando quiera.',
    shared: 'Su informe está compartido',
    sharedUntil: 'Lo puede ver {account} hasta el {until}, a menos que usted deje de compartirlo antes.',
    stop: 'Dejar de compartir',
    sure: '¿Dejar de compartir definitivamente?',
    sureWhat:
      'El acceso compartido termina de inmediato, y {account} ya no podrá abrir este informe por ese medio. No se puede deshacer: usted no podrá volver a compartirle este informe.',
    stopForGood: 'Dejar de compartir definitivamente',
    keep: 'Seguir compartiendo',
    revoked: 'Dejó de compartir su informe',
    revokedWhat: 'Este informe no se podrá volver a compartir con {account}.',
    over: 'Su informe ya no está compartido',
    overWhat: 'Terminó el tiempo por el que lo había compartido.',
    expired: 'El informe venció y ya no se puede compartir. Con una nueva evaluación tendrá uno nuevo.',
    unsure: 'No sabemos si se completó. Inténtelo de nuevo en un momento: nada se hace dos veces.',
    problem: 'No se pudo completar. Nada ha cambiado: inténtelo de nuevo en unos minutos.',
    tryAgain: 'Intentar de nuevo',
    stateUnknown: 'No pudimos averiguar si el informe está compartido.',
  },
};
