// The terms, and the person's consent to them.
import type { ScreeningOptions } from '../../api/wire.js';
import { Checkbox } from '../../parts/field.js';
import { fill, useTexts } from '../../parts/language.js';
import { TEXTS } from './texts.js';

export interface TermsProps {
  readonly terms: ScreeningOptions['terms'];
  readonly accepted: boolean;
  readonly error: string | undefined;
  readonly locked: boolean;
  readonly onAccepted: (accepted: boolean) => void;
}

export function Terms({ terms, accepted, error, locked, onAccepted }: TermsProps) {
  const texts = useTexts(TEXTS);
  return (
    <fieldset class="group">
      <legend>{texts.terms}</legend>
      <div class="terms" role="region" aria-label={texts.terms} tabIndex={0} lang={terms.language}>
        {terms.paragraphs.map((paragraph, at) => (
          <p key={at}>{paragraph}</p>
        ))}
        <p>{fill(texts.termsVersion, { version: terms.version })}</p>
      </div>
      <Checkbox
        name="terms"
        label={texts.accept}
        checked={accepted}
        error={error}
        locked={locked}
        onChecked={onAccepted}
      />
    </fieldset>
  );
}
