// The parts of a screening by name, with the current part marked.
import type { Progress } from '../progress.js';
import { useTexts } from './language.js';
import { PROGRESS } from './progress-texts.js';

export function ProgressBar({ parts, at }: Progress) {
  const texts = useTexts(PROGRESS);
  return (
    <ol class="parts" aria-label={texts.progress}>
      {parts.map((part, index) => (
        <li key={part} class={index <= at ? 'reached' : undefined} aria-current={index === at ? 'step' : undefined}>
          {index < at && <Tick />}
          <span class="part">{texts[part]}</span>
          {index < at && <span class="unseen">, {texts.past}</span>}
        </li>
      ))}
    </ol>
  );
}

function Tick() {
  return (
    <svg class="part-tick" viewBox="0 0 12 12" aria-hidden="true">
      <path d="m2 6.5 2.5 2.5L10 3.5" />
    </svg>
  );
}
