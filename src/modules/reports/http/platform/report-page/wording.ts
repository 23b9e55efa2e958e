// The words of the report's page in its languages.
import type { EndUserType } from '../../../../../kernel/end-user-type.js';
import type { VerificationMethod } from '../../../../../published/screenings.js';
import type { Band, Figures, MonthState } from './figures.js';

export const PAGE_LANGUAGES = ['en', 'es'] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

type Records = 'publicRecords' | 'background' | 'housingCourt';
type Table = Records | 'inquiries';

interface TableWords {
  readonly title: string;
  readonly columns: readonly string[];
}

export interface Wording {
  readonly language: PageLanguage;
  readonly title: string;
  readonly report: string;
  readonly testData: string;
  readonly generated: string;
  readonly validUntil: string;
  /** The note next to text in the bureau's language; null if the page has that language. */
  readonly asWritten: string | null;
  /** The section on the applicant and the request. */
  readonly who: {
    readonly title: string;
    readonly applicant: string;
    readonly birthYear: string;
    readonly ssn: string;
    readonly address: string;
    readonly earlierAddress: string;
    readonly property: string;
    readonly requestedBy: string;
    readonly purpose: string;
    readonly screening: string;
    readonly userTypes: Readonly<Record<EndUserType, string>>;
    verified(how: VerificationMethod, day: string): string;
  };
  readonly score: string;
  readonly noScore: string;
  scale(value: number, min: number, max: number): string;
  readonly bands: Readonly<Record<Band, string>>;
  readonly model: string;
  readonly date: string;
  readonly factors: string;
  readonly noFactors: string;
  readonly glance: string;
  readonly figures: Readonly<Record<keyof Figures, string>>;
  readonly notGiven: string;
  readonly attention: string;
  readonly attentionIs: {
    nothing(searched: string): string;
    pastDue(creditor: string, amount: string): string;
    inCollection(creditor: string, amount: string): string;
    record(title: string, what: string, day: string, outcome: string): string;
    readonly searched: Readonly<Record<Records | 'accounts', string>>;
  };
  readonly accounts: {
    readonly title: string;
    readonly none: string;
    readonly opened: string;
    readonly balance: string;
    readonly limit: string;
    readonly originalAmount: string;
    readonly pastDue: string;
    readonly account: string;
    readonly legend: string;
    readonly months: Readonly<Record<MonthState, { readonly name: string; readonly mark: string }>>;
    history(counts: string, late: string): string;
    readonly noHistory: string;
  };
  readonly tables: Readonly<Record<Table, TableWords>>;
  readonly noEntries: string;
  searchedNone(day: string): string;
  searched(area: string, day: string): string;
  readonly notOrdered: string;
  leftOut(requestedBy: string): string;
  /** The rights of the person in the file under the Fair Credit Reporting Act, in short. */
  readonly rights: {
    readonly title: string;
    readonly lead: string;
    readonly list: readonly string[];
    readonly more: string;
  };
  readonly dispute: { readonly title: string; readonly text: string };
  sources(model: string | null): string;
}

const EN: Wording = {
  language: 'en',
  title: 'Tenant screening report',
  report: 'Report',
  testData: 'TEST DATA, not a real person',
  generated: 'Generated',
  validUntil: 'Valid until',
  asWritten: null,
  who: {
    title: 'Applicant and request',
    applicant: 'Applicant',
    birthYear: 'Year of birth',
    ssn: 'SSN',
    address: 'Current address',
    earlierAddress: 'Earlier address',
    property: 'Property',
    requestedBy: 'Requested by',
    purpose: 'Purpose',
    screening: 'Tenant screening',
    userTypes: {
      INDEPENDENT_OWNER: 'independent owner',
      REAL_ESTATE_AGENT: 'real estate agent',
      PROPERTY_MANAGEMENT: 'property management',
    },
    verified: (how, day) =>
      `Identity verified ${{ otp: 'by one-time code ', kba: 'by questions about the credit file ', outright: '' }[how]}on ${day}`,
  },
  score: 'Score',
  noScore: 'The file holds too little for a score. That says nothing good or bad about the applicant.',
  scale: (value, min, max) => `${value} on a scale from ${min} to ${max}`,
  bands: { poor: 'Poor', fair: 'Fair', good: 'Good', veryGood: 'Very good', exceptional: 'Exceptional' },
  model: 'Model',
  date: 'Date',
  factors: 'Key factors',
  noFactors: 'The bureau named no factors.',
  glance: 'At a glance',
  figures: {
    openAccounts: 'Open accounts',
    balanceCents: 'Balances',
    pastDueCents: 'Past due now',
    onTimePercent: 'Payments on time, last 24 months',
    creditUsedPercent: 'Revolving credit used',
    inquiries: 'Inquiries, last 12 months',
  },
  notGiven: 'Not given',
  attention: 'Needs attention',
  attentionIs: {
    nothing: (searched) => `Nothing that needs attention was found. Searched: ${searched}.`,
    pastDue: (creditor, amount) => `${creditor}: ${amount} past due`,
    inCollection: (creditor, amount) => `${creditor}: in collection or charged off, balance ${amount}`,
    record: (title, what, day, outcome) => `${title}: ${what}, ${day}, ${outcome}`,
    searched: {
      accounts: 'credit accounts',
      publicRecords: 'public records',
      background: 'background records',
      housingCourt: 'housing court',
    },
  },
  accounts: {
    title: 'Accounts',
    none: 'The file has no accounts.',
    opened: 'Opened',
    balance: 'Balance',
    limit: 'Limit',
    originalAmount: 'Limit or original amount',
    pastDue: 'Past due',
    account: 'Account ending in',
    legend: 'Each cell is a month, the newest on the right',
    months: {
      onTime: { name: 'paid on time', mark: 'C' },
      late30: { name: '30 days late', mark: '30' },
      late60: { name: '60 days late', mark: '60' },
      late90: { name: '90 days late or more', mark: '90' },
      noData: { name: 'no data', mark: '–' },
    },
    history: (counts, late) => `Payment history: ${counts}${late === '' ? '' : `. Late: ${late}`}`,
    noHistory: 'The creditor gave no payment history.',
  },
  tables: {
    publicRecords: { title: 'Public records', columns: ['Type', 'Court', 'Filed', 'Status', 'Amount'] },
    housingCourt: { title: 'Housing court', columns: ['Court', 'Case', 'Filed', 'Outcome', 'Judgment'] },
    background: { title: 'Background', columns: ['Jurisdiction', 'Offense', 'Severity', 'Date', 'Disposition'] },
    inquiries: { title: 'Inquiries', columns: ['Subscriber', 'Date', 'Purpose'] },
  },
  noEntries: 'No inquiries in the file.',
  searchedNone: (day) => `Searched ${day}: no records`,
  searched: (area, day) => `Searched ${day}: ${area}`,
  notOrdered: 'Not ordered',
  leftOut: (requestedBy) => `Left out at the request of ${requestedBy}`,
  rights: {
    title: 'Your rights',
    lead: 'The federal Fair Credit Reporting Act protects the person whom a report is about. In short:',
    list: [
      'You may know what is in your file. Anyone who keeps one about you has to show it to you when you ask and prove who you are.',
      'You may ask for your credit score.',
      'You must be told when a report like this one was used against you, for example to refuse you a home or to ask for a higher deposit, and by whom it was made. You may then have a copy of it for free.',
      'You may dispute what is incomplete or wrong. It has to be looked into, usually within 30 days, and what is wrong or cannot be confirmed has to be corrected or removed.',
      'Most negative information may no longer be reported after seven years, and bankruptcies after ten.',
      'Your file may be seen only by those with a need that the law recognizes, such as a landlord to whom you have applied. An employer needs your written consent.',
      'You may freeze your file for free, so that no one can open credit in your name, and you may place a fraud alert on it.',
      'You may decline offers of credit and insurance that were made from a list of your file.',
      'You may claim damages in court from those who violate these rights. Victims of identity theft and members of the armed forces on active duty have further rights.',
    ],
    more: 'The full text and the official summary are at consumerfinance.gov/learnmore. States may give you more rights than these.',
  },
  dispute: {
    title: 'If something is wrong',
    text: 'Tell the credit bureau that supplied the file, and give the number of this report. For court and background records, tell the court or agency that is named with the record as well. The party that requested this report can tell you how to reach the bureau.',
  },
  sources: (model) =>
    `Sources: the credit file and the records of the bureau that supplied this report${model === null ? '' : `; score: ${model}`}.`,
};

const ES: Wording = {
  language: 'es',
  title: 'Informe de evaluación de inquilino',
  report: 'Informe',
  testData: 'DATOS DE PRUEBA, no es una persona real',
  generated: 'Fecha del informe',
  validUntil: 'Válido hasta',
  asWritten: 'La agencia de crédito escribe en inglés. Lo que escribió con sus propias palabras aparece tal cual.',
  who: {
    title: 'Solicitante y solicitud',
    applicant: 'Solicitante',
    birthYear: 'Año de nacimiento',
    ssn: 'Seguro Social',
    address: 'Dirección actual',
    earlierAddress: 'Dirección anterior',
    property: 'Vivienda',
    requestedBy: 'Solicitado por',
    purpose: 'Propósito',
    screening: 'Evaluación de inquilino',
    userTypes: {
      INDEPENDENT_OWNER: 'propietario independiente',
      REAL_ESTATE_AGENT: 'agente inmobiliario',
      PROPERTY_MANAGEMENT: 'administración de propiedades',
    },
    verified: (how, day) =>
      `Identidad verificada ${{ otp: 'con un código de un solo uso ', kba: 'con preguntas sobre el historial ', outright: '' }[how]}el ${day}`,
  },
  score: 'Puntaje',
  noScore: 'El historial tiene muy poca información para un puntaje. Eso no dice nada bueno ni malo del solicitante.',
  scale: (value, min, max) => `${value} en una escala de ${min} a ${max}`,
  bands: { poor: 'Bajo', fair: 'Regular', good: 'Bueno', veryGood: 'Muy bueno', exceptional: 'Excelente' },
  model: 'Modelo',
  date: 'Fecha',
  factors: 'Factores principales',
  noFactors: 'La agencia no indicó factores.',
  glance: 'De un vistazo',
  figures: {
    openAccounts: 'Cuentas abiertas',
    balanceCents: 'Saldos',
    pastDueCents: 'Vencido ahora',
    onTimePercent: 'Pagos a tiempo, últimos 24 meses',
    creditUsedPercent: 'Crédito renovable usado',
    inquiries: 'Consultas, últimos 12 meses',
  },
  notGiven: 'Sin datos',
  attention: 'Requiere atención',
  attentionIs: {
    nothing: (searched) => `No se encontró nada que requiera atención. Se buscó en: ${searched}.`,
    pastDue: (creditor, amount) => `${creditor}: ${amount} vencidos`,
    inCollection: (creditor, amount) => `${creditor}: en cobranza o deuda incobrable, saldo de ${amount}`,
    record: (title, what, day, outcome) => `${title}: ${what}, ${day}, ${outcome}`,
    searched: {
      accounts: 'cuentas de crédito',
      publicRecords: 'registros públicos',
      background: 'antecedentes',
      housingCourt: 'tribunal de vivienda',
    },
  },
  accounts: {
    title: 'Cuentas',
    none: 'El historial no tiene cuentas.',
    opened: 'Apertura',
    balance: 'Saldo',
    limit: 'Límite',
    originalAmount: 'Límite o monto original',
    pastDue: 'Vencido',
    account: 'Cuenta terminada en',
    legend: 'Cada casilla es un mes; el más reciente está a la derecha',
    months: {
      onTime: { name: 'pagado a tiempo', mark: 'C' },
      late30: { name: '30 días de atraso', mark: '30' },
      late60: { name: '60 días de atraso', mark: '60' },
      late90: { name: '90 días de atraso o más', mark: '90' },
      noData: { name: 'sin datos', mark: '–' },
    },
    history: (counts, late) => `Historial de pagos: ${counts}${late === '' ? '' : `. Atrasos: ${late}`}`,
    noHistory: 'El acreedor no dio historial de pagos.',
  },
  tables: {
    publicRecords: { title: 'Registros públicos', columns: ['Tipo', 'Tribunal', 'Presentación', 'Estado', 'Monto'] },
    housingCourt: {
      title: 'Tribunal de vivienda',
      columns: ['Tribunal', 'Caso', 'Presentación', 'Resultado', 'Sentencia'],
    },
    background: { title: 'Antecedentes', columns: ['Jurisdicción', 'Delito', 'Gravedad', 'Fecha', 'Resolución'] },
    inquiries: { title: 'Consultas', columns: ['Quién consultó', 'Fecha', 'Motivo'] },
  },
  noEntries: 'El historial no tiene consultas.',
  searchedNone: (day) => `Se buscó el ${day}: sin registros`,
  searched: (area, day) => `Se buscó el ${day}: ${area}`,
  notOrdered: 'No se pidió',
  leftOut: (requestedBy) => `Omitido a petición de ${requestedBy}`,
  rights: {
    title: 'Sus derechos',
    lead: 'La ley federal de informes de crédito justos (Fair Credit Reporting Act) protege a la persona de quien trata un informe. En resumen:',
    list: [
      'Puede saber qué contiene su historial. Quien tenga uno sobre usted debe mostrárselo cuando lo pida y demuestre quién es.',
      'Puede pedir su puntaje de crédito.',
      'Deben avisarle cuando un informe como este se usó en su contra, por ejemplo para negarle una vivienda o pedirle un depósito más alto, y decirle quién lo hizo. En ese caso puede obtener una copia gratis.',
      'Puede disputar lo que esté incompleto o equivocado. Debe investigarse, por lo general en un plazo de 30 días, y lo que esté equivocado o no se pueda confirmar debe corregirse o eliminarse.',
      'La mayor parte de la información negativa ya no se puede informar después de siete años; las bancarrotas, después de diez.',
      'Solo pueden ver su historial quienes tengan una necesidad que la ley reconoce, como el propietario de una vivienda que usted solicitó. Un empleador necesita su consentimiento por escrito.',
      'Puede congelar su historial gratis, para que nadie abra un crédito a su nombre, y puede poner en él una alerta de fraude.',
      'Puede rechazar las ofertas de crédito y de seguros que se hacen a partir de listas de historiales.',
      'Puede reclamar daños ante un tribunal a quienes violen estos derechos. Las víctimas de robo de identidad y los miembros de las fuerzas armadas en servicio activo tienen otros derechos.',
    ],
    more: 'El texto completo y el resumen oficial están en consumerfinance.gov/learnmore. Los estados pueden darle más derechos que estos.',
  },
  dispute: {
    title: 'Si algo está equivocado',
    text: 'Avise a la agencia de crédito que dio el historial, con el número de este informe. Si se trata de registros judiciales o de antecedentes, avise también al tribunal o a la autoridad que aparece junto al registro. Quien solicitó este informe puede decirle cómo comunicarse con la agencia.',
  },
  sources: (model) =>
    `Fuentes: el historial de crédito y los registros de la agencia que dio este informe${model === null ? '' : `; puntaje: ${model}`}.`,
};

export const WORDINGS: Readonly<Record<PageLanguage, Wording>> = { en: EN, es: ES };
