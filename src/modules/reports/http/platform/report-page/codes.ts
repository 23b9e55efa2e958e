// Plain words for the bureaus' known codes.
import { html, type Content } from './html.js';
import type { PageLanguage } from './wording.js';

const MEANINGS: Readonly<Record<string, Readonly<Record<PageLanguage, string>>>> = {
  REVOLVING: { en: 'Revolving credit', es: 'Crédito renovable' },
  INSTALLMENT: { en: 'Installment loan', es: 'Préstamo a plazos' },
  MORTGAGE: { en: 'Mortgage', es: 'Hipoteca' },
  CURRENT: { en: 'Paid as agreed', es: 'Al día' },
  PAST_DUE: { en: 'Past due', es: 'Con pagos vencidos' },
  CLOSED: { en: 'Closed', es: 'Cuenta cerrada' },
  BANKRUPTCY_CHAPTER_7: { en: 'Bankruptcy, chapter 7', es: 'Bancarrota, capítulo 7' },
  BANKRUPTCY_CHAPTER_13: { en: 'Bankruptcy, chapter 13', es: 'Bancarrota, capítulo 13' },
  CIVIL_JUDGMENT: { en: 'Civil judgment', es: 'Sentencia civil' },
  DISCHARGED: { en: 'Discharged', es: 'Deudas exoneradas' },
  DISMISSED: { en: 'Dismissed', es: 'Caso desestimado' },
  SATISFIED: { en: 'Satisfied', es: 'Sentencia cumplida' },
  CREDIT_APPLICATION: { en: 'Credit application', es: 'Solicitud de crédito' },
  TENANT_SCREENING: { en: 'Tenant screening', es: 'Evaluación de inquilino' },
  ACCOUNT_REVIEW: { en: 'Account review', es: 'Revisión de una cuenta' },
  INFRACTION: { en: 'Infraction', es: 'Infracción' },
  MISDEMEANOR: { en: 'Misdemeanor', es: 'Delito menor' },
  FELONY: { en: 'Felony', es: 'Delito grave' },
  CONVICTED: { en: 'Convicted', es: 'Condena' },
  PLEADED_NO_CONTEST: { en: 'Pleaded no contest', es: 'No disputó los cargos' },
  NONPAYMENT: { en: 'Nonpayment of rent', es: 'Falta de pago de la renta' },
  HOLDOVER: { en: 'Holdover', es: 'Permanencia sin derecho' },
  JUDGMENT_FOR_LANDLORD: { en: 'Judgment for the landlord', es: 'Sentencia a favor del propietario' },
  COLLECTION: { en: 'In collection', es: 'En cobranza' },
  CHARGED_OFF: { en: 'Charged off', es: 'Deuda incobrable' },
  FRAUD_ALERT: { en: 'Fraud alert', es: 'Alerta de fraude' },
  ACTIVE_DUTY: { en: 'Active-duty alert', es: 'Alerta de servicio militar activo' },
  ADDRESS_MISMATCH: {
    en: 'The address given differs from the addresses in the file',
    es: 'La dirección indicada no coincide con las del historial',
  },
  SETTLED: { en: 'Settled', es: 'Acuerdo entre las partes' },
};

/** Null for an unknown code. */
function meaningOf(code: string, language: PageLanguage): string | null {
  return Object.hasOwn(MEANINGS, code) ? (MEANINGS[code]?.[language] ?? null) : null;
}

/** The words for a known code, or else the code itself. */
export function coded(code: string, language: PageLanguage): string {
  return meaningOf(code, language) ?? code;
}

/** The code for the page. An unknown code is shown unchanged, and marked as a code. */
export function codeOf(code: string, language: PageLanguage): Content {
  return meaningOf(code, language) ?? html`<code>${code}</code>`;
}
