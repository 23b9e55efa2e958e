// What the processor charges and how it counts it (https://docs.stripe.com/currencies). Not always as ISO 4217 does: króna and shilling
// are counted in hundredths that must be whole units, dinars and rials in thousandths of which the last digit must be 0.
import type { ChargedCurrency } from '../../ports/vendors.js';

const HUNDREDTHS =
  'usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd cad cdf chf cny cop crc cve czk dkk dop dzd ' +
  'egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl htg huf idr ils inr jmd kes kgs khr kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt ' +
  'mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sek sgd shp sle sos srd szl thb ' +
  'tjs top try ttd twd tzs uah uyu uzs wst xcd xcg yer zar zmw';
const WHOLE_HUNDREDTHS = 'isk ugx';
const UNITS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf';
const THOUSANDTHS = 'bhd jod kwd omr tnd';

export const CURRENCIES: Readonly<Record<string, ChargedCurrency>> = Object.fromEntries([
  ...counted(HUNDREDTHS, { exponent: 2, step: 1 }),
  ...counted(WHOLE_HUNDREDTHS, { exponent: 2, step: 100 }),
  ...counted(UNITS, { exponent: 0, step: 1 }),
  ...counted(THOUSANDTHS, { exponent: 3, step: 10 }),
]);

function counted(codes: string, currency: ChargedCurrency): readonly (readonly [string, ChargedCurrency])[] {
  return codes.split(' ').map((code) => [code, currency]);
}
