// The fields of each screen of the details, in the order that people expect.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { UserType } from '../../../contract/callbacks.js';
import { MaskedField, SecretField, Select, TextField } from '../../parts/field.js';
import { useTexts } from '../../parts/language.js';
import { BIRTH_DATE, SSN } from '../../parts/masks.js';
import { Button } from '../../parts/step.js';
import type { Values } from './form.js';
import { type DetailsScreen, type FieldName, isOptional, MAX_LENGTHS } from './rules.js';
import { US_STATES } from './states.js';
import { TEXTS } from './texts.js';

export interface FieldsProps {
  readonly screen: DetailsScreen;
  readonly userType: UserType;
  readonly values: Values;
  readonly errors: Readonly<Partial<Record<FieldName, string>>>;
  /** The details are being sent. */
  readonly locked: boolean;
  readonly onValue: (field: FieldName, value: string) => void;
  readonly onLeave: (field: FieldName) => void;
}

export function Fields({ screen, userType, values, errors, locked, onValue, onLeave }: FieldsProps) {
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
    // Allows twice the number of characters, so that a name that is too long causes an error and is not cut off.
    ...(MAX_LENGTHS[name] === undefined ? {} : { maxLength: 2 * MAX_LENGTHS[name] }),
  });
  switch (screen) {
    case 'about':
      return (
        <div class="group">
          <div class="row">
            <TextField {...of('firstName')} autocomplete="given-name" />
            <TextField {...of('lastName')} autocomplete="family-name" />
          </div>
          <Folded open={values.middleName !== '' || errors.middleName !== undefined} add={texts.addMiddleName}>
            <TextField {...of('middleName')} autocomplete="additional-name" />
          </Folded>
          {userType === 'PMC' && <TextField {...of('companyName')} autocomplete="organization" />}
          <MaskedField {...of('dateOfBirth')} mask={BIRTH_DATE} hint={texts.dateOfBirthHint} autocomplete="bday" />
        </div>
      );
    case 'numbers':
      return (
        <div class="group">
          {userType === 'CONSUMER' && <SecretField {...of('ssn')} mask={SSN} hint={texts.ssnHint} />}
          <TextField
            {...of('phoneNumber')}
            type="tel"
            inputMode="tel"
            hint={texts.phoneNumberHint}
            autocomplete="tel-national"
          />
          <Folded open={values.email !== '' || errors.email !== undefined} add={texts.addEmail}>
            <TextField {...of('email')} type="email" inputMode="email" autocomplete="email" />
          </Folded>
        </div>
      );
    case 'home':
      return (
        <div class="group">
          <TextField {...of('currentAddress')} autocomplete="street-address" />
          <TextField {...of('currentCity')} autocomplete="address-level2" />
          <div class="row">
            <Select {...of('currentState')} choices={US_STATES} autocomplete="address-level1" />
            <TextField {...of('currentZip')} inputMode="numeric" maxLength={20} autocomplete="postal-code" />
          </div>
        </div>
      );
    default:
      return screen satisfies never;
  }
}

interface FoldedProps {
  /** The field has a value or an error. */
  readonly open: boolean;
  readonly add: string;
  readonly children: ComponentChildren;
}

/** A field that few people need, behind a button. A field that has been shown stays. */
function Folded({ open, add, children }: FoldedProps) {
  const [pressed, press] = useState(false);
  const shown = useRef(false);
  shown.current ||= open || pressed;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (pressed) box.current?.querySelector('input')?.focus();
  }, [pressed]);
  if (shown.current) return <div ref={box}>{children}</div>;
  return (
    <Button kind="link" onPress={() => press(true)}>
      {add}
    </Button>
  );
}
