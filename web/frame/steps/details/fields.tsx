// The fields of the details, in the order that people are used to.
import type { UserType } from '../../../contract/callbacks.js';
import { SecretField, Select, TextField } from '../../parts/field.js';
import { useTexts } from '../../parts/language.js';
import { BIRTH_DATE, SSN } from '../../parts/masks.js';
import type { Values } from './form.js';
import { type FieldName, isOptional, MAX_LENGTHS } from './rules.js';
import { US_STATES } from './states.js';
import { TEXTS } from './texts.js';

export interface FieldsProps {
  readonly userType: UserType;
  readonly values: Values;
  readonly errors: Readonly<Partial<Record<FieldName, string>>>;
  /** The details are being sent. */
  readonly locked: boolean;
  readonly onValue: (field: FieldName, value: string) => void;
  readonly onLeave: (field: FieldName) => void;
}

export function Fields({ userType, values, errors, locked, onValue, onLeave }: FieldsProps) {
  const texts = useTexts(TEXTS);
  const of = (name: Exclude<FieldName, 'terms'>) => ({
    name,
    label: texts[name],
    value: values[name],
    error: errors[name],
    optional: isOptional(name),
    locked,
    onValue: (value: string) => onValue(name, value),
    onLeave: () => onLeave(name),
    // Allows twice the number of units, so that a name that is too long causes an error and is not cut off.
    ...(MAX_LENGTHS[name] === undefined ? {} : { maxLength: 2 * MAX_LENGTHS[name] }),
  });
  return (
    <>
      <fieldset class="group">
        <legend>{texts.you}</legend>
        <div class="row">
          <TextField {...of('firstName')} autocomplete="given-name" />
          <TextField {...of('lastName')} autocomplete="family-name" />
        </div>
        <TextField {...of('middleName')} autocomplete="additional-name" />
        {userType === 'PMC' && <TextField {...of('companyName')} autocomplete="organization" />}
        <div class="row">
          <SecretField {...of('dateOfBirth')} mask={BIRTH_DATE} hint={texts.dateOfBirthHint} autocomplete="bday" />
          {userType === 'CONSUMER' && <SecretField {...of('ssn')} mask={SSN} hint={texts.ssnHint} />}
        </div>
      </fieldset>
      <fieldset class="group">
        <legend>{texts.contact}</legend>
        <TextField
          {...of('phoneNumber')}
          type="tel"
          inputMode="tel"
          hint={texts.phoneNumberHint}
          autocomplete="tel-national"
        />
        <TextField {...of('email')} type="email" inputMode="email" autocomplete="email" />
      </fieldset>
      <fieldset class="group">
        <legend>{texts.home}</legend>
        <TextField {...of('currentAddress')} autocomplete="street-address" />
        <TextField {...of('currentCity')} autocomplete="address-level2" />
        <div class="row">
          <Select {...of('currentState')} choices={US_STATES} autocomplete="address-level1" />
          <TextField {...of('currentZip')} inputMode="numeric" maxLength={20} autocomplete="postal-code" />
        </div>
      </fieldset>
    </>
  );
}
