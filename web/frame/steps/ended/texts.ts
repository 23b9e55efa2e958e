import type { Texts } from '../../journey.js';

export const ENDED = {
  en: {
    attempts: 'Too many wrong answers',
    attemptsLead: 'To protect you, this verification was stopped.',
    until: 'You can start again after {time}.',
    notFound: 'We could not confirm your identity',
    notFoundLead: 'The details that were entered match no record of a person. Check them when you start again.',
    minor: 'You have to be at least 18 years old',
    minorLead: 'By the date of birth that was entered you are younger.',
    blocked: 'We cannot continue with this verification',
    blockedLead: 'It was stopped by a safety check.',
    noEnd: 'This does not end by itself. Please contact {account} to learn what to do next.',
    expired: 'The time for this verification is over',
    expiredLead: 'It was not finished in time, or a newer one has replaced it. Start again and enter your details.',
    error: 'Something went wrong on our side',
    errorLead: 'Your identity could not be checked. That was not your fault.',
    startAgain: 'Start again',
  },
  es: {
    attempts: 'Demasiadas respuestas incorrectas',
    attemptsLead: 'Para su protección, detuvimos esta verificación.',
    until: 'Podrá comenzar de nuevo después del {time}.',
    notFound: 'No pudimos confirmar su identidad',
    notFoundLead:
      'Los datos que se ingresaron no coinciden con los registros de ninguna persona. Revíselos cuando comience de nuevo.',
    minor: 'Debe tener al menos 18 años',
    minorLead: 'Según la fecha de nacimiento que se ingresó, es menor de esa edad.',
    blocked: 'No podemos continuar con esta verificación',
    blockedLead: 'Un control de seguridad la detuvo.',
    noEnd: 'Esto no termina por sí solo. Comuníquese con {account} para saber qué hacer.',
    expired: 'Se acabó el tiempo para esta verificación',
    expiredLead: 'No se terminó a tiempo o la reemplazó otra más reciente. Comience de nuevo e ingrese sus datos.',
    error: 'Algo salió mal por nuestra parte',
    errorLead: 'No se pudo confirmar su identidad. No fue culpa suya.',
    startAgain: 'Comenzar de nuevo',
  },
} satisfies Texts<string>;
