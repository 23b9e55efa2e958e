// The person chooses between a code and questions.
import type { StepProps } from '../../journey.js';
import { useTexts } from '../../parts/language.js';
import { StepFrame } from '../../parts/step.js';
import { STEP_UP } from './texts.js';

export function ChoiceStep({ journey }: StepProps) {
  const texts = useTexts(STEP_UP);
  return (
    <StepFrame title={texts.choiceTitle} lead={texts.choiceLead}>
      <div class="options">
        <Option title={texts.chooseOtp} hint={texts.chooseOtpHint} onPress={() => journey.choose('otp')} />
        <Option title={texts.chooseKba} hint={texts.chooseKbaHint} onPress={() => journey.choose('kba')} />
      </div>
    </StepFrame>
  );
}

interface OptionProps {
  readonly title: string;
  readonly hint: string;
  readonly onPress: () => void;
}

function Option({ title, hint, onPress }: OptionProps) {
  return (
    <button type="button" class="option" onClick={onPress}>
      <span class="option-title">{title}</span>
      <span class="option-hint">{hint}</span>
    </button>
  );
}
