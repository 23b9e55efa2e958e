// The spelling of an applicant in a call to a vendor. All modules use this function (docs/contract/general.md#text).
import type { Applicant, Device } from '../kernel/applicant.js';
import { folded, phoneDigits, stateCode, zipCode } from './folded-text.js';

type Spelling = (text: string) => string;
const PERSON: Readonly<Partial<Record<keyof Applicant, Spelling>>> = {
  firstName: folded,
  middleName: folded,
  lastName: folded,
  companyName: folded,
  mothersMaidenName: folded,
  spouseName: folded,
  ssn: folded,
  phoneNumber: phoneDigits,
  propertyZip: zipCode,
};
const ADDRESS = { street: folded, city: folded, state: stateCode, zip: zipCode };

/** The applicant's spelling in calls to vendors. A person's id is made from the original spelling, because the id must not change. */
export function foldedApplicant(applicant: Applicant): Applicant {
  return foldedDevice(spelled(applicant, PERSON));
}

export function foldedDevice<Where extends Pick<Device, 'address'>>(device: Where): Where {
  return device.address ? { ...device, address: spelled(device.address, ADDRESS) } : device;
}

function spelled<Texts extends object>(
  texts: Texts,
  spellings: Readonly<Partial<Record<keyof Texts, Spelling>>>,
): Texts {
  const entries = Object.entries(texts) as [keyof Texts, unknown][];
  return Object.fromEntries(
    entries.map(([name, text]) => [name, typeof text === 'string' ? (spellings[name]?.(text) ?? text) : text]),
  ) as Texts;
}
