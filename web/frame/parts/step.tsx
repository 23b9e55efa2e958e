// The parts of every screen other than its fields.
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';
import { useAnnounced } from './announcer.js';
import { LanguageContext } from './language.js';
import { type Kind, Sign } from './sign.js';
import { PARTS } from './texts.js';

/** Whether the new screen takes the focus. The first screen does not, because the page around it has its own focus. */
export const TakesFocus = createContext(false);

/** The heading of a screen. The heading takes the focus when the screen appears, so that keyboards and screen readers continue at the heading. */
export function Heading({ children }: { readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const takes = useContext(TakesFocus);
  useEffect(() => {
    if (takes) heading.current?.focus();
  }, []);
  return (
    <h1 tabIndex={-1} ref={heading}>
      {children}
    </h1>
  );
}

export interface StepFrameProps {
  /** The sign of an ending. */
  readonly sign?: Kind;
  readonly title: string;
  /** A sentence or two below the title. */
  readonly lead?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** A screen: its heading, its introduction, and its content. */
export function StepFrame({ sign, title, lead, children }: StepFrameProps) {
  return (
    <section class="step">
      {sign && <Sign kind={sign} />}
      <div class="intro">
        <Heading>{title}</Heading>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {children}
    </section>
  );
}

export interface ButtonProps {
  readonly children: ComponentChildren;
  /** A button without this handler submits the form around it. */
  readonly onPress?: () => void;
  readonly kind?: 'primary' | 'secondary' | 'danger' | 'link';
  /** The button is working and cannot be pressed again. The button keeps the focus and its name. */
  readonly busy?: boolean;
  readonly disabled?: boolean;
}

export function Button({ children, onPress, kind = 'primary', busy = false, disabled = false }: ButtonProps) {
  return (
    <button
      type={onPress ? 'button' : 'submit'}
      class={`button ${kind}`}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      disabled={disabled}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onPress?.();
      }}
    >
      {busy && <span class="wheel" aria-hidden="true" />}
      <span>{children}</span>
    </button>
  );
}

export interface AlertProps {
  readonly kind?: 'problem' | 'note' | 'good';
  readonly title?: string | undefined;
  readonly children?: ComponentChildren;
  /** The message takes the focus when it appears. Used for a problem that interrupts the person. */
  readonly focus?: boolean;
}

/** A message that must not be missed. Give the message another `key` to announce the same message again. */
export function Alert({ kind = 'problem', title, children, focus = false }: AlertProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focus) box.current?.focus();
  }, []);
  return (
    <div class={`alert ${kind}`} role={kind === 'problem' ? 'alert' : undefined} tabIndex={-1} ref={box}>
      {title && <p class="alert-title">{title}</p>}
      {children}
    </div>
  );
}

/** For work that takes time. The text is announced once, and is removed from the live region when the work ends. */
export function Spinner({ text }: { readonly text?: string }) {
  const said = text ?? PARTS[useContext(LanguageContext)].loading;
  useAnnounced(said);
  return (
    <p class="spinner">
      <span class="wheel" aria-hidden="true" />
      <span>{said}</span>
    </p>
  );
}
