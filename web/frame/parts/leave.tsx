// The last button of a view: the person returns to the page around the frame.
import { useState } from 'preact/hooks';
import type { Journey } from '../journey.js';
import { announce } from './announcer.js';
import { fill, useTexts } from './language.js';
import { Button } from './step.js';
import { PARTS } from './texts.js';

export interface LeaveProps {
  readonly journey: Journey;
  /** The person has not reached the end of the view. */
  readonly early?: boolean;
}

/** When the page does not listen, the person stays here, so the frame says that the person may close the page. */
export function Leave({ journey, early = false }: LeaveProps) {
  const texts = useTexts(PARTS);
  const [stays, setStays] = useState(false);

  async function leave(): Promise<void> {
    if (await journey.leave()) return;
    setStays(true);
    announce(texts.mayLeave);
  }

  return (
    <div class="leave">
      <Button kind={early ? 'secondary' : 'primary'} onPress={() => void leave()}>
        {fill(early ? texts.returnTo : texts.leave, { account: journey.account })}
      </Button>
      {stays && <p class="hint">{texts.mayLeave}</p>}
    </div>
  );
}
