// A step with several views. Each view after the first takes the focus, like a new screen.
import { type ComponentChildren, Fragment } from 'preact';
import { useContext, useRef } from 'preact/hooks';
import { useTexts } from './language.js';
import { TakesFocus } from './step.js';
import { PARTS } from './texts.js';

export interface ViewProps {
  /** A new value means a new view. */
  readonly shown: string | number;
  /** Null if no view precedes this one. */
  readonly onBack: (() => void) | null;
  /** The answers are being sent. */
  readonly locked: boolean;
  /** An element in the new view takes the focus instead of its heading. */
  readonly leavesFocus?: boolean;
  readonly children: ComponentChildren;
}

export function View({ shown, onBack, locked, leavesFocus = false, children }: ViewProps) {
  const texts = useTexts(PARTS);
  const takes = useContext(TakesFocus);
  const opened = useRef(shown);
  const moved = useRef(false);
  moved.current ||= shown !== opened.current;
  return (
    <TakesFocus.Provider value={(takes || moved.current) && !leavesFocus}>
      <Fragment key={shown}>
        {onBack && (
          <button type="button" class="back" disabled={locked} onClick={onBack}>
            <svg class="back-arrow" viewBox="0 0 16 16" aria-hidden="true">
              <path d="M10 3 5 8l5 5" />
            </svg>
            {texts.back}
          </button>
        )}
        {children}
      </Fragment>
    </TakesFocus.Provider>
  );
}
