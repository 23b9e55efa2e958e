import type { Texts } from '../../journey.js';

type Key =
  | 'title'
  | 'titleOfRecipient'
  | 'lead'
  | 'leadWithoutScore'
  | 'leadOfRecipient'
  | 'opening'
  | 'page'
  | 'print'
  | 'download'
  | 'preparing'
  | 'saved'
  | 'printed'
  | 'notSaved'
  | 'tooManyPdfs'
  | 'notPrinted'
  | 'tryAgain'
  | 'notOpened'
  | 'notPaid'
  | 'notCompleted'
  | 'expired'
  | 'denied'
  | 'busy'
  | 'visitOver'
  | 'later'
  | 'notLive'
  | 'blocked'
  | 'notFound'
  | 'notShared'
  | 'taken'
  | 'shareOver';

export const TEXTS: Texts<Key> = {
  en: {
    title: 'Your screening report',
    titleOfRecipient: 'Screening report',
    lead: 'This is what we found. You can print it or save it.',
    leadWithoutScore:
      'This is what we found. Your credit file holds too little to compute a score, so the report has none.',
    leadOfRecipient: 'The applicant has shared this report with you.',
    opening: 'Getting your report. This can take up to 30 seconds…',
    page: 'Report',
    print: 'Print',
    download: 'Download PDF',
    preparing: 'Preparing the PDF…',
    saved: 'The PDF was downloaded.',
    printed: 'The report was sent to the print dialog.',
    notSaved: 'The PDF could not be made right now. Try again in a moment, or print the report.',
    tooManyPdfs: 'Too many PDFs are being made right now. Try again in a moment.',
    notPrinted: 'This browser does not let us print from here. Download the PDF and print that.',
    tryAgain: 'Try again',
    notOpened: 'The report cannot be opened',
    notPaid:
      'The report is not available yet, because it has not been paid for. If there is nothing left for you to pay, please contact the company that asked for the screening.',
    notCompleted: 'The identity check has to be finished first. Then the report is ready.',
    expired: 'This report has expired: a report can be seen for a limited time. A new screening makes a new one.',
    denied: 'You may not see this report. There are no credit reports for this kind of account.',
    busy: 'There were too many requests. Wait a moment and try again.',
    visitOver: 'Your visit to this page has expired. Please reload the page.',
    later: 'The credit bureau is not answering right now. You have lost nothing: try again in a moment.',
    notLive: 'The company that asked for the screening is not set up for reports yet. Please contact them.',
    blocked: 'The identity check was stopped, so there is no report to show.',
    notFound: 'There is no such report here.',
    notShared: 'This report has not been shared with you.',
    taken: 'The applicant has stopped sharing this report with you.',
    shareOver: 'You can no longer see this report, or the applicant has not agreed to share it yet.',
  },
  es: {
    title: 'El informe de su evaluación',
    titleOfRecipient: 'Informe de evaluación',
    lead: 'Esto es lo que encontramos. Puede imprimirlo o guardarlo.',
    leadWithoutScore:
      'Esto es lo que encontramos. Su historial de crédito tiene muy poca información para calcular un puntaje, así que el informe no lo incluye.',
    leadOfRecipient: 'El solicitante compartió este informe con usted.',
    opening: 'Estamos obteniendo su informe. Puede tardar hasta 30 segundos…',
    page: 'Informe',
    print: 'Imprimir',
    download: 'Descargar PDF',
    preparing: 'Preparando el PDF…',
    saved: 'El PDF se descargó.',
    printed: 'El informe se envió al cuadro de impresión.',
    notSaved: 'No pudimos crear el PDF en este momento. Inténtelo de nuevo en unos minutos o imprima el informe.',
    tooManyPdfs: 'En este momento se están creando demasiados PDF. Inténtelo de nuevo en unos minutos.',
    notPrinted: 'Este navegador no permite imprimir desde aquí. Descargue el PDF e imprímalo.',
    tryAgain: 'Intentar de nuevo',
    notOpened: 'No podemos mostrar el informe',
    notPaid:
      'El informe todavía no está disponible porque no se pagó. Si usted no tiene nada pendiente de pago, comuníquese con la empresa que pidió la evaluación.',
    notCompleted: 'Primero hay que terminar la verificación de identidad. Después podrá ver el informe.',
    expired:
      'Este informe venció: los informes se pueden ver durante un tiempo limitado. Con una nueva evaluación tendrá uno nuevo.',
    denied: 'No tiene permiso para ver este informe. Este tipo de cuenta no tiene informes de crédito.',
    busy: 'Hubo demasiadas solicitudes. Espere un momento e inténtelo de nuevo.',
    visitOver: 'Su visita a esta página venció. Vuelva a cargar la página.',
    later: 'La agencia de crédito no responde en este momento. No perdió nada: inténtelo de nuevo en unos minutos.',
    notLive: 'La empresa que pidió la evaluación todavía no puede recibir informes. Comuníquese con ella.',
    blocked: 'La verificación de identidad se detuvo, así que no hay informe que mostrar.',
    notFound: 'Aquí no existe ese informe.',
    notShared: 'Este informe no se compartió con usted.',
    taken: 'El solicitante dejó de compartir este informe con usted.',
    shareOver: 'Ya no puede ver este informe, o el solicitante aún no ha aceptado compartirlo.',
  },
};

export type TextKey = Key;
