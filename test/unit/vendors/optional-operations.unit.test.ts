// Operations of the identity port that a vendor need not have. Each default is tested once, for all vendors.
import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { IdentityVendor, type PastOutcome, type RegistrationVerdict } from '../../../src/ports/identity-vendor.js';

class OnlyRegisters extends IdentityVendor {
  override async register(): Promise<RegistrationVerdict> {
    return { kind: 'confirmed', vendorSession: 'v' };
  }
  override async outcomeOf(): Promise<PastOutcome> {
    return { kind: 'unintelligible' };
  }
}

describe('an identity vendor without an operation', () => {
  const vendor = new OnlyRegisters();
  const call = { attemptId: newId(), correlationId: newId(), environment: 'test', subject: null } as const;

  it.each([
    ['verifyOtp', () => vendor.verifyOtp(call, 'v', '123456'), 'unavailable'],
    ['resendOtp', () => vendor.resendOtp(call, 'v'), 'unavailable'],
    ['verifyKba', () => vendor.verifyKba(call, 'v', []), 'unavailable'],
    ['reauthenticate', () => vendor.reauthenticate(call, 'v', {}), 'refused-otherwise'],
    ['authenticationStatus', () => vendor.authenticationStatus(call, 'v'), 'refused-otherwise'],
    ['expireAuthentication', () => vendor.expireAuthentication(call, 'v'), 'refused-otherwise'],
  ])('answers that it has not executed %s', async (_name, ask, kind) => {
    expect(await ask()).toEqual({ kind });
  });
});
