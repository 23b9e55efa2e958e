// The outline of a first step, which is shown until the step is ready. The page of the frame shows the same outline before its script runs.
import { useAnnounced } from './announcer.js';
import { useTexts } from './language.js';
import { PARTS } from './texts.js';

export function Skeleton() {
  const { loading } = useTexts(PARTS);
  useAnnounced(loading);
  return (
    <div class="skeleton" aria-hidden="true">
      <i class="heading" />
      <i class="lead" />
      <i />
      <i />
      <i />
      <i class="button" />
    </div>
  );
}
