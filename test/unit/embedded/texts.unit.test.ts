// The texts of the frame in both languages.
import { describe, expect, it } from '@jest/globals';
import { PROGRESS } from '../../../web/frame/parts/progress-texts.js';
import { PARTS } from '../../../web/frame/parts/texts.js';
import { TEXTS as DETAILS } from '../../../web/frame/steps/details/texts.js';
import { ENDED } from '../../../web/frame/steps/ended/texts.js';
import { INCOME } from '../../../web/frame/steps/income/texts.js';
import { TEXTS as PAYMENT } from '../../../web/frame/steps/payment/texts.js';
import { SHARE_TEXTS } from '../../../web/frame/steps/report/share-texts.js';
import { TEXTS as REPORT } from '../../../web/frame/steps/report/texts.js';
import { UNAVAILABLE } from '../../../web/frame/steps/report/unavailable-texts.js';
import { STEP_UP } from '../../../web/frame/steps/step-up/texts.js';
import { FRAME } from '../../../web/frame/texts.js';

type Table = Readonly<Record<'en' | 'es', Readonly<Record<string, string>>>>;

const TABLES = Object.entries({
  PARTS,
  PROGRESS,
  DETAILS,
  ENDED,
  INCOME,
  PAYMENT,
  SHARE_TEXTS,
  REPORT,
  UNAVAILABLE,
  STEP_UP,
  FRAME,
} satisfies Record<string, Table>) as [string, Table][];

const placeholders = (text: string | undefined): string[] => (text?.match(/\{\w+\}/g) ?? []).sort();

describe.each(TABLES)('%s', (_, { en, es }) => {
  it('has the same keys and placeholders in both languages', () => {
    expect(Object.keys(es).sort()).toEqual(Object.keys(en).sort());
    for (const [key, text] of Object.entries(en))
      expect([key, placeholders(es[key])]).toEqual([key, placeholders(text)]);
  });

  it('is in formal Spanish of the United States', () => {
    // Words used in Spain, and informal forms of address.
    const foreign = /introdu[cz]|móvil|caduc|nóminas|importe\b|comprobación|\b(tu|tus|tienes|puedes)\b/i;
    expect(Object.entries(es).filter(([, text]) => foreign.test(text))).toEqual([]);
  });
});

// An account may read the reports of its own sessions with its secret key, also after the share has ended.
it.each([SHARE_TEXTS.en, SHARE_TEXTS.es])(
  'the question before a share ends promises only the end of the share',
  (texts) => {
    expect(texts.sureWhat).toMatch(
      /\{account\} (can no longer open this report through it|ya no podrá abrir este informe por ese medio)/,
    );
    expect(texts.sureWhat).not.toMatch(/Sharing ends|Dejará de compartirse/);
  },
);
