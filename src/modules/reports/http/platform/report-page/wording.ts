// The words of the report's page in its languages.

export const PAGE_LANGUAGES = ['en', 'es'] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

type Table = 'tradeLines' | 'publicRecords' | 'inquiries' | 'background' | 'housingCourt';

interface TableWords {
  readonly title: string;
  readonly columns: readonly string[];
}

export interface Wording {
  readonly language: PageLanguage;
  readonly title: string;
  readonly report: string;
  readonly screening: string;
  readonly generated: string;
  readonly seenUntil: string;
  /** For text that stays in the bureau's language; null where the page has that language. */
  readonly asWritten: string | null;
  readonly score: string;
  readonly noScore: string;
  scale(min: number, max: number): string;
  readonly model: string;
  readonly date: string;
  readonly factors: string;
  readonly noFactors: string;
  readonly consumer: string;
  readonly name: string;
  readonly birthYear: string;
  readonly address: string;
  readonly earlierAddress: string;
  readonly tables: Readonly<Record<Table, TableWords>>;
  readonly paymentHistory: string;
  readonly noEntries: string;
  /** The rights of the person in the file under the Fair Credit Reporting Act, in short. */
  readonly rights: {
    readonly title: string;
    readonly lead: string;
    readonly list: readonly string[];
    readonly more: string;
  };
}

const EN: Wording = {
  language: 'en',
  title: 'Credit report',
  report: 'Report',
  screening: 'Screening',
  generated: 'Generated',
  seenUntil: 'To be seen until',
  asWritten: null,
  score: 'Score',
  noScore: 'No score: the file holds too little to compute one.',
  scale: (min, max) => `of ${min} to ${max}`,
  model: 'Model',
  date: 'Date',
  factors: 'What weighed most',
  noFactors: 'Nothing was named.',
  consumer: 'Consumer',
  name: 'Name',
  birthYear: 'Year of birth',
  address: 'Address',
  earlierAddress: 'Earlier address',
  tables: {
    tradeLines: {
      title: 'Trade lines',
      columns: ['Creditor', 'Type', 'Account', 'Opened', 'Status', 'Balance', 'Limit', 'Past due', 'Payment history'],
    },
    publicRecords: { title: 'Public records', columns: ['Type', 'Court', 'Filed', 'Status', 'Amount'] },
    inquiries: { title: 'Inquiries', columns: ['Subscriber', 'Date', 'Purpose'] },
    background: { title: 'Background', columns: ['Jurisdiction', 'Offense', 'Severity', 'Date', 'Disposition'] },
    housingCourt: { title: 'Housing court', columns: ['Court', 'Case', 'Filed', 'Outcome', 'Judgment'] },
  },
  paymentHistory: 'The payment history has one letter or digit a month, the newest first.',
  noEntries: 'No entries.',
  rights: {
    title: 'Your rights as a consumer',
    lead: 'The federal Fair Credit Reporting Act protects the person whom a report is about. In short:',
    list: [
      'You may know what is in your file. Anyone who keeps one about you has to show it to you when you ask and prove who you are.',
      'You may ask for your credit score.',
      'You must be told when a report like this one was used against you, for example to refuse you a home or to ask for a higher deposit, and by whom it was made. You may then have a copy of it for free.',
      'You may dispute what is incomplete or wrong. It has to be looked into, usually within 30 days, and what is wrong or cannot be confirmed has to be corrected or removed.',
      'Old negative information may not be reported: most of it after seven years, bankruptcies after ten.',
      'Your file may be seen only by those with a need that the law recognizes, such as a landlord to whom you have applied. An employer needs your written consent.',
      'You may freeze your file for free, so that nobody can open credit in your name, and you may place a fraud alert on it.',
      'You may decline offers of credit and insurance that were made from a list of your file.',
      'You may claim damages in court from those who violate these rights. Victims of identity theft and members of the armed forces on active duty have further rights.',
    ],
    more: 'The full text and the official summary are at consumerfinance.gov/learnmore. States may give you more rights than these.',
  },
};

const ES: Wording = {
  language: 'es',
  title: 'Informe de crédito',
  report: 'Informe',
  screening: 'Evaluación',
  generated: 'Fecha del informe',
  seenUntil: 'Se puede ver hasta',
  asWritten: 'La agencia de crédito escribe en inglés. Lo que escribió con sus propias palabras aparece tal cual.',
  score: 'Puntaje',
  noScore: 'Sin puntaje: el historial tiene muy poca información para calcularlo.',
  scale: (min, max) => `en una escala de ${min} a ${max}`,
  model: 'Modelo',
  date: 'Fecha',
  factors: 'Lo que más influyó',
  noFactors: 'No se indicó nada.',
  consumer: 'Consumidor',
  name: 'Nombre',
  birthYear: 'Año de nacimiento',
  address: 'Dirección',
  earlierAddress: 'Dirección anterior',
  tables: {
    tradeLines: {
      title: 'Cuentas de crédito',
      columns: [
        'Acreedor',
        'Tipo',
        'Cuenta',
        'Apertura',
        'Estado',
        'Saldo',
        'Límite',
        'Pago vencido',
        'Historial de pagos',
      ],
    },
    publicRecords: { title: 'Registros públicos', columns: ['Tipo', 'Tribunal', 'Presentación', 'Estado', 'Monto'] },
    inquiries: { title: 'Consultas', columns: ['Quién consultó', 'Fecha', 'Motivo'] },
    background: { title: 'Antecedentes', columns: ['Jurisdicción', 'Delito', 'Gravedad', 'Fecha', 'Resolución'] },
    housingCourt: {
      title: 'Tribunal de vivienda',
      columns: ['Tribunal', 'Caso', 'Presentación', 'Resultado', 'Sentencia'],
    },
  },
  paymentHistory: 'El historial de pagos tiene una letra o un número por mes, empezando por el más reciente.',
  noEntries: 'No hay registros.',
  rights: {
    title: 'Sus derechos como consumidor',
    lead: 'La ley federal de informes de crédito justos (Fair Credit Reporting Act) protege a la persona de quien trata un informe. En resumen:',
    list: [
      'Puede saber qué contiene su historial. Quien tenga uno sobre usted debe mostrárselo cuando lo pida y demuestre quién es.',
      'Puede pedir su puntaje de crédito.',
      'Deben avisarle cuando un informe como este se usó en su contra, por ejemplo para negarle una vivienda o pedirle un depósito más alto, y decirle quién lo hizo. En ese caso puede obtener una copia gratis.',
      'Puede disputar lo que esté incompleto o equivocado. Debe investigarse, por lo general en un plazo de 30 días, y lo que esté equivocado o no se pueda confirmar debe corregirse o eliminarse.',
      'La información negativa antigua no se puede informar: en su mayor parte después de siete años; las bancarrotas, después de diez.',
      'Solo pueden ver su historial quienes tengan una necesidad que la ley reconoce, como el propietario de una vivienda que usted solicitó. Un empleador necesita su consentimiento por escrito.',
      'Puede congelar su historial gratis, para que nadie abra un crédito a su nombre, y puede poner en él una alerta de fraude.',
      'Puede rechazar las ofertas de crédito y de seguros que se hacen a partir de listas de historiales.',
      'Puede reclamar daños ante un tribunal a quienes violen estos derechos. Las víctimas de robo de identidad y los miembros de las fuerzas armadas en servicio activo tienen otros derechos.',
    ],
    more: 'El texto completo y el resumen oficial están en consumerfinance.gov/learnmore. Los estados pueden darle más derechos que estos.',
  },
};

export const WORDINGS: Readonly<Record<PageLanguage, Wording>> = { en: EN, es: ES };
