// A choice between several cards, with the question above. The space for an error is reserved, so that an error moves nothing.
import { useId } from 'preact/hooks';
import { Mark } from './field.js';

export interface RadiosProps {
  readonly name: string;
  readonly legend: string;
  readonly choices: readonly { readonly value: string; readonly text: string }[];
  readonly value: string | null;
  readonly onValue: (value: string) => void;
  /** The language of the legend and the choices, when it is not the reader's language. */
  readonly lang?: string;
  /** The error, for people. */
  readonly error?: string | null;
}

export function Radios({ name, legend, choices, value, onValue, lang, error }: RadiosProps) {
  const id = useId();
  return (
    <fieldset
      class={error ? 'field radios wrong' : 'field radios'}
      role="radiogroup"
      data-field={name}
      aria-required="true"
      aria-invalid={error ? true : undefined}
      aria-describedby={error ? `${id}-error` : undefined}
    >
      <legend lang={lang}>{legend}</legend>
      {choices.map((choice) => (
        <label key={choice.value} class="radio">
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            onChange={() => onValue(choice.value)}
          />
          <span lang={lang}>{choice.text}</span>
        </label>
      ))}
      <p class="problem" id={`${id}-error`}>
        {error && (
          <>
            <Mark />
            {error}
          </>
        )}
      </p>
    </fieldset>
  );
}
