import type { Texts } from './journey.js';

export const FRAME = {
  en: {
    failed: 'We cannot continue',
    crashed: 'This part could not be shown',
    crashedLead: 'What you have done so far is kept, except for what was not sent yet.',
    waiting: 'We are confirming your identity',
    waitingLead: 'This usually takes a few seconds. Please keep this page open.',
    stillWaiting: 'This takes longer than usual',
    stillWaitingLead:
      'We are still waiting for an answer. You can check again now, or come back later: nothing is lost.',
    review: 'A person is checking your details',
    reviewLead:
      'A person at our identity service checks your details. This can take hours or a few days. You can close this page and come back later: nothing is lost.',
    check: 'Check again',
    verified: 'You are verified',
    verifiedLead: 'Your identity is confirmed. There is nothing more to do here.',
    done: 'All done',
    doneLead: 'Thank you. There is nothing more to do here.',
    incomeDone: 'Your income is confirmed',
    incomeDoneLead: 'The report is ready for {account}.',
  },
  es: {
    failed: 'No podemos continuar',
    crashed: 'No se pudo mostrar esta parte',
    crashedLead: 'Lo que hizo hasta ahora se conserva, salvo lo que aún no se había enviado.',
    waiting: 'Estamos confirmando su identidad',
    waitingLead: 'Suele tardar unos segundos. No cierre esta página.',
    stillWaiting: 'Está tardando más de lo normal',
    stillWaitingLead:
      'Seguimos esperando una respuesta. Puede revisar de nuevo ahora o volver más tarde: no se pierde nada.',
    review: 'Una persona revisa sus datos',
    reviewLead:
      'Una persona de nuestro servicio de identidad revisa sus datos. Puede tardar horas o unos días. Puede cerrar esta página y volver más tarde: no se pierde nada.',
    check: 'Revisar de nuevo',
    verified: 'Su identidad está verificada',
    verifiedLead: 'Confirmamos su identidad. No hay nada más que hacer aquí.',
    done: 'Listo',
    doneLead: 'Gracias. No hay nada más que hacer aquí.',
    incomeDone: 'Sus ingresos están confirmados',
    incomeDoneLead: 'El informe está listo para {account}.',
  },
} satisfies Texts<string>;
