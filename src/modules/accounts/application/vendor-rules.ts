import { Injectable } from '@nestjs/common';
import { CHOSEN_CAPABILITIES, type VendorChoice } from '../../../kernel/vendor-choice.js';
import { Vendors } from '../../../ports/vendors.js';
import { wrong } from '../domain/account.js';

/** Holds the choice of an account against the vendors that this installation has. */
@Injectable()
export class VendorRules {
  constructor(private readonly vendors: Vendors) {}

  /** Throws when a wanted vendor cannot serve. What was chosen earlier may be gone: it is looked at only with the others. */
  check(wanted: Partial<VendorChoice> = {}, current: VendorChoice): void {
    for (const capability of CHOSEN_CAPABILITIES) {
      const offered = this.vendors.offering(capability);
      if (wanted[capability] !== undefined && !offered.includes(wanted[capability]))
        throw wrong(`${capability}-vendor`, `The ${capability} vendor must be one of ${offered.join(', ')}.`);
    }
    const { identity, credit } = { ...current, ...wanted };
    // A consumer would be verified, would pay, and would never get the report.
    if ((wanted.identity ?? wanted.credit) !== undefined && !this.vendors.takesSessionsOf('credit', credit, identity))
      throw wrong('credit-vendor', `The credit vendor ${credit} has no reports on whom ${identity} has verified.`);
  }
}
