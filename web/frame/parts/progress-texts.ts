import type { Texts } from '../journey.js';

export const PROGRESS = {
  en: {
    progress: 'Progress',
    past: 'done',
    identity: 'Identity',
    verification: 'Verification',
    payment: 'Payment',
    report: 'Report',
  },
  es: {
    progress: 'Progreso',
    past: 'listo',
    identity: 'Identidad',
    verification: 'Verificación',
    payment: 'Pago',
    report: 'Informe',
  },
} satisfies Texts<string>;
