// The account's contact for people who need help, as a link.
import { useTexts } from './language.js';
import { PARTS } from './texts.js';

export interface SupportProps {
  /** A mail address, a phone number or a web address that the service has checked. An older service sends none. */
  readonly contact: string | null | undefined;
}

export function Support({ contact }: SupportProps) {
  const texts = useTexts(PARTS);
  if (!contact) return <p class="hint">{texts.askCompany}</p>;
  const elsewhere = isWeb(contact) && ({ target: '_blank', rel: 'noopener noreferrer' } as const);
  return (
    <p class="hint">
      {texts.support}{' '}
      <a href={addressOf(contact)} {...elsewhere}>
        {contact}
      </a>
    </p>
  );
}

/** The browser opens the person's mail program, telephone or another page. */
export function addressOf(contact: string): string {
  if (isWeb(contact)) return contact;
  return contact.includes('@') ? `mailto:${contact}` : `tel:${contact.replace(/[^+0-9]/g, '')}`;
}

function isWeb(contact: string): boolean {
  return /^https?:\/\//i.test(contact);
}
