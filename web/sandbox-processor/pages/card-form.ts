// The card fields: labels, values, and the errors next to them.
import type { Language } from '../look.js';
import type { ErrorObject } from '../messages.js';
import type { Card } from './api.js';
import { type CardValues, digitsOf, type FieldName, FIELDS, problemOf, written } from './card-values.js';
import { MESSAGES, TEXTS } from './texts.js';

interface Field {
  readonly label: HTMLLabelElement;
  readonly input: HTMLInputElement;
  readonly error: HTMLParagraphElement;
  /** The code of the error that is shown. */
  problem: string | null;
}

const AUTOCOMPLETE: Readonly<Record<FieldName, AutoFill>> = {
  number: 'cc-number',
  expiry: 'cc-exp',
  cvc: 'cc-csc',
  postalCode: 'postal-code',
};

/** The field to which an error of the processor belongs. */
const FIELD_OF_CODE: Readonly<Record<string, FieldName>> = {
  incorrect_number: 'number',
  expired_card: 'expiry',
  incorrect_cvc: 'cvc',
};

export class CardForm {
  readonly element = document.createElement('form');
  private readonly fields: Readonly<Record<FieldName, Field>>;
  private language: Language = 'en';

  /** `changed` is called after every change of a value. */
  constructor(private readonly changed: () => void) {
    this.element.className = 'card';
    this.element.noValidate = true;
    this.element.autocomplete = 'off';
    this.fields = {
      number: this.field('number'),
      expiry: this.field('expiry'),
      cvc: this.field('cvc'),
      postalCode: this.field('postalCode'),
    };
  }

  get complete(): boolean {
    return FIELDS.every((name) => problemOf(name, this.fields[name].input.value, new Date()) === null);
  }

  get empty(): boolean {
    return FIELDS.every((name) => this.fields[name].input.value === '');
  }

  get card(): Card {
    const { number, expiry, cvc, postalCode } = this.values;
    const [month, year] = [digitsOf(expiry).slice(0, 2), digitsOf(expiry).slice(2)];
    return { number: digitsOf(number), month, year: `20${year}`, cvc, postalCode };
  }

  say(language: Language): void {
    this.language = language;
    const texts = TEXTS[language];
    this.element.setAttribute('aria-label', texts.card);
    for (const name of FIELDS) {
      this.fields[name].label.textContent = texts[name];
      this.show(name, this.fields[name].problem);
    }
    this.fields.number.input.placeholder = '1234 1234 1234 1234';
    this.fields.expiry.input.placeholder = texts.expiryHint;
    this.fields.cvc.input.placeholder = texts.cvcHint;
    this.fields.postalCode.input.placeholder = '12345';
  }

  /** Shows all errors, and moves the focus to the first wrong field. Null if every field is valid. */
  check(): ErrorObject | null {
    const wrong = FIELDS.map((name) => {
      const code = problemOf(name, this.fields[name].input.value, new Date());
      this.show(name, code);
      return { name, code };
    }).find(({ code }) => code !== null);
    if (wrong === undefined || wrong.code === null) return null;
    this.fields[wrong.name].input.focus();
    return { type: 'validation_error', code: wrong.code, message: MESSAGES[this.language][wrong.code] ?? '' };
  }

  /** Shows the processor's error at its field. */
  showRefusal({ code = '' }: ErrorObject): void {
    const name = FIELD_OF_CODE[code];
    if (name !== undefined) this.show(name, code);
  }

  clear(): void {
    for (const name of FIELDS) {
      this.fields[name].input.value = '';
      this.show(name, null);
    }
    this.changed();
  }

  focus(): void {
    this.fields.number.input.focus();
  }

  private get values(): CardValues {
    const { number, expiry, cvc, postalCode } = this.fields;
    return {
      number: number.input.value,
      expiry: expiry.input.value,
      cvc: cvc.input.value,
      postalCode: postalCode.input.value,
    };
  }

  private field(name: FieldName): Field {
    const [place, label, input, error] = [
      document.createElement('div'),
      document.createElement('label'),
      document.createElement('input'),
      document.createElement('p'),
    ];
    place.className = name === 'number' ? 'field wide' : 'field';
    label.htmlFor = input.id = name;
    input.name = name;
    input.inputMode = 'numeric';
    input.autocomplete = AUTOCOMPLETE[name];
    input.required = true;
    error.id = `${name}-error`;
    error.className = 'error';
    error.setAttribute('aria-live', 'polite');
    input.setAttribute('aria-describedby', error.id);
    place.append(label, input, error);
    this.element.append(place);
    input.addEventListener('input', () => {
      rewrite(name, input);
      this.show(name, null);
      this.changed();
    });
    input.addEventListener('blur', () => {
      if (input.value !== '' && this.fields[name].problem === null)
        this.show(name, problemOf(name, input.value, new Date()));
    });
    return { label, input, error, problem: null };
  }

  private show(name: FieldName, code: string | null): void {
    const field = this.fields[name];
    field.problem = code;
    field.error.textContent = code === null ? '' : (MESSAGES[this.language][code] ?? '');
    field.input.setAttribute('aria-invalid', String(code !== null));
  }
}

/** Keeps the caret after the same digit. */
function rewrite(name: FieldName, input: HTMLInputElement): void {
  const { value, selectionStart } = input;
  const text = written(name, value);
  if (text === value) return;
  const atEnd = selectionStart === null || selectionStart === value.length;
  input.value = text;
  if (atEnd) return;
  const digitsBefore = digitsOf(value.slice(0, selectionStart)).length;
  let caret = 0;
  while (digitsOf(text.slice(0, caret)).length < digitsBefore && caret < text.length) caret += 1;
  input.setSelectionRange(caret, caret);
}
