// The name of each view, for people who navigate by the names of frames and regions.
import type { View } from './callbacks.js';
import type { Language } from './language.js';

export const TITLES: Readonly<Record<View, Readonly<Record<Language, string>>>> = {
  screening: { en: 'Identity screening', es: 'Verificación de identidad' },
  report: { en: 'Screening report', es: 'Informe de evaluación' },
  rights: { en: 'Your report', es: 'Su informe' },
  income: { en: 'Income verification', es: 'Verificación de ingresos' },
};
