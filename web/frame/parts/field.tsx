// Form fields with a label above, a hint, and the error below.
import type { ComponentChildren } from 'preact';
import { useContext, useId, useState } from 'preact/hooks';
import { afterPress } from './after-press.js';
import { fill, LanguageContext } from './language.js';
import { format, type Mask, write } from './masks.js';
import { PARTS } from './texts.js';

export interface FieldProps {
  /** The field's name in the form. Errors of the API use the same name. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Called when the person leaves the field. */
  readonly onLeave?: (() => void) | undefined;
  readonly hint?: string | undefined;
  /** The error, for people. */
  readonly error?: string | null | undefined;
  readonly optional?: boolean;
  readonly autocomplete?: string;
  readonly inputMode?: 'text' | 'numeric' | 'tel' | 'email';
  readonly maxLength?: number;
  /** The field cannot be changed now. A text field keeps the focus. */
  readonly locked?: boolean;
}

interface FrameOfField {
  readonly id: string;
  readonly describedBy: string | undefined;
}

/** The parts around the control of every field. */
function Labelled(props: FieldProps & { readonly children: (field: FrameOfField) => ComponentChildren }) {
  const texts = PARTS[useContext(LanguageContext)];
  const id = useId();
  const { hint, error, label, optional, name } = props;
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div class={error ? 'field wrong' : 'field'} data-field={name}>
      <label for={id}>
        {label}
        {optional && <span class="optional"> ({texts.optional})</span>}
      </label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {props.children({ id, describedBy })}
      {error && (
        <p class="problem" id={`${id}-error`}>
          <Mark />
          {error}
        </p>
      )}
    </div>
  );
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm-.9 3.5h1.8v4.6H7.1V4.5Zm.9 7.4a1.05 1.05 0 1 1 0-2.1 1.05 1.05 0 0 1 0 2.1Z" />
    </svg>
  );
}

/** The type of an input decides the attributes that the compiler allows; these attributes suit all types. */
function attributesOf(props: FieldProps, type: string, { id, describedBy }: FrameOfField) {
  return {
    id,
    type: type as 'text',
    name: props.name,
    'aria-describedby': describedBy,
    'aria-invalid': props.error ? true : undefined,
    'aria-required': !props.optional,
    autocomplete: (props.autocomplete ?? 'off') as 'off',
    inputMode: props.inputMode,
    readOnly: props.locked,
    onBlur: left(props),
  };
}

/** A person who switches windows returns to the same field, so the person has not left the field. */
function left({ onLeave }: FieldProps) {
  return ({ currentTarget }: { readonly currentTarget: HTMLElement }): void => {
    if (onLeave && document.activeElement !== currentTarget) afterPress(onLeave);
  };
}

export function TextField(props: FieldProps & { readonly type?: 'text' | 'email' | 'tel' }) {
  return (
    <Labelled {...props}>
      {(field) => (
        <input
          {...attributesOf(props, props.type ?? 'text', field)}
          class="control"
          maxLength={props.maxLength}
          value={props.value}
          onInput={({ currentTarget }) => props.onValue(currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

interface MaskedProps extends FieldProps {
  readonly mask: Mask;
}

/** Writes the typed digits in groups. */
function maskedOf({ mask, value, onValue }: MaskedProps) {
  return {
    inputMode: 'numeric',
    spellcheck: false,
    autocapitalize: 'off',
    value: format(mask, value),
    onInput({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void {
      const written = write(mask, currentTarget.value, currentTarget.selectionStart ?? Infinity);
      currentTarget.value = written.text;
      currentTarget.setSelectionRange(written.caret, written.caret);
      onValue(written.digits);
    },
  } as const;
}

/** A field for digits in groups. `value` contains only the digits. */
export function MaskedField(props: MaskedProps) {
  return (
    <Labelled {...props}>
      {(field) => <input {...attributesOf(props, 'text', field)} {...maskedOf(props)} class="control" />}
    </Labelled>
  );
}

/** A field for digits in groups that are hidden until the person wants to see them. */
export function SecretField(props: MaskedProps) {
  const texts = PARTS[useContext(LanguageContext)];
  const [shown, show] = useState(false);
  return (
    <Labelled {...props}>
      {(field) => (
        <div class="with-button">
          <input
            {...attributesOf(props, shown || HIDES_TEXT ? 'text' : 'password', field)}
            {...maskedOf(props)}
            class={shown ? 'control' : 'control hidden-text'}
          />
          <button
            type="button"
            class="show"
            aria-label={fill(shown ? texts.hideField : texts.showField, { label: props.label })}
            onClick={() => show(!shown)}
          >
            {shown ? texts.hide : texts.show}
          </button>
        </div>
      )}
    </Labelled>
  );
}

/** A password manager would offer to store a password field. A password field is used only if the browser cannot hide text otherwise. */
const HIDES_TEXT = typeof CSS !== 'undefined' && CSS.supports('-webkit-text-security', 'disc');

export function Select(props: FieldProps & { readonly choices: readonly { value: string; text: string }[] }) {
  const texts = PARTS[useContext(LanguageContext)];
  return (
    <Labelled {...props}>
      {({ id, describedBy }) => (
        <select
          id={id}
          class="control"
          name={props.name}
          autocomplete={props.autocomplete ?? 'off'}
          aria-describedby={describedBy}
          aria-invalid={props.error ? true : undefined}
          aria-required={!props.optional}
          disabled={props.locked}
          value={props.value}
          onBlur={left(props)}
          onChange={({ currentTarget }) => props.onValue(currentTarget.value)}
        >
          <option value="">{texts.choose}</option>
          {props.choices.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

export interface CheckboxProps {
  readonly name: string;
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly onChecked: (checked: boolean) => void;
  readonly error?: string | null | undefined;
  readonly locked?: boolean;
}

export function Checkbox({ name, label, checked, onChecked, error, locked }: CheckboxProps) {
  const id = useId();
  return (
    <div class={error ? 'field wrong' : 'field'} data-field={name}>
      <label class="tick" for={id}>
        <input
          id={id}
          name={name}
          type="checkbox"
          checked={checked}
          disabled={locked}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? `${id}-error` : undefined}
          onChange={({ currentTarget }) => onChecked(currentTarget.checked)}
        />
        <span>{label}</span>
      </label>
      {error && (
        <p class="problem" id={`${id}-error`}>
          <Mark />
          {error}
        </p>
      )}
    </div>
  );
}
