import { Injectable } from '@nestjs/common';
import { type Capability, CHOSEN_CAPABILITIES, FIRST_VENDORS } from '../../../kernel/vendor-choice.js';
import { Vendors, type ChargedCurrency } from '../../../ports/vendors.js';
import { wrong, type Settings, type SettingsToSet } from '../domain/account.js';

/** Checks an account's settings against the vendors of this installation. */
@Injectable()
export class VendorRules {
  constructor(private readonly vendors: Vendors) {}

  /**
   * Throws if a wanted vendor cannot be used. A vendor that was chosen earlier may no longer exist, so it is checked only together with a new
   * choice.
   */
  check(settings: SettingsToSet, now: Settings): void {
    const { vendors: wanted = {} } = settings;
    for (const capability of CHOSEN_CAPABILITIES) {
      const offered = this.vendors.choices(capability);
      const vendor = wanted[capability] ?? null;
      if (vendor !== null && !offered.includes(vendor))
        throw wrong(`${capability}-vendor`, `The ${capability} vendor must be one of ${offered.join(', ')}.`);
    }
    const next = (capability: Capability): string => chosen(wanted[capability], now.vendors[capability], capability);
    if ('identity' in wanted || 'credit' in wanted) this.checkCredit(next('identity'), next('credit'));
    if ('currency' in settings || 'feeCents' in settings || 'payment' in wanted)
      this.checkFee({ ...now, ...settings }, next('payment'));
  }

  /** Refuses vendors that do not fit: a consumer would be verified and would pay, but would never get the report. */
  private checkCredit(identity: string, credit: string): void {
    if (!this.vendors.knowsPersonBy('credit', credit, identity))
      throw wrong('credit-vendor', `The credit vendor ${credit} has no reports on whom ${identity} has verified.`);
  }

  private checkFee({ currency: code, feeCents }: Pick<Settings, 'currency' | 'feeCents'>, processor: string): void {
    const currency = this.vendors.currency(code, processor);
    if (currency === null)
      throw wrong('currency', 'The currency must be a lowercase ISO 4217 code that the payment processor charges.');
    if (feeCents % currency.step !== 0)
      throw wrong('fee', `A fee in this currency must be a multiple of ${currency.step}: ${countedIn(currency)}.`);
  }
}

/** Null removes the choice, so that the first vendor counts. */
function chosen(wanted: string | null | undefined, now: string | undefined, capability: Capability): string {
  return (wanted === undefined ? now : wanted) ?? FIRST_VENDORS[capability];
}

function countedIn({ exponent }: ChargedCurrency): string {
  return `the payment processor counts ${10 ** exponent} to the unit and takes no finer amounts`;
}
