// The currencies that the processor charges, and how it counts them (https://docs.stripe.com/currencies). Some differ from ISO 4217. Króna and
// shilling are counted in hundredths, but amounts must be whole units. Dinars and rials are counted in thousandths whose last digit must be 0.
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
