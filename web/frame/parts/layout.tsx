// The layout around every screen: the account's brand, the progress, the connection's state, and the live region.
import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { ScreeningOptions } from '../api/wire.js';
import type { Progress } from '../progress.js';
import { announce, Announcer } from './announcer.js';
import { LanguageContext } from './language.js';
import { ProgressBar } from './progress.js';
import { PARTS } from './texts.js';

export interface LayoutProps {
  /** Distinguishes the frame's main part from the page's main part. */
  readonly title: string;
  /** Null if the screen has no progress to show. */
  readonly progress: Progress | null;
  readonly testMode: boolean;
  /** The appearance of the account, when it is known. */
  readonly brand: ScreeningOptions['brand'];
  readonly children: ComponentChildren;
}

export function Layout({ title, progress, testMode, brand, children }: LayoutProps) {
  const texts = PARTS[useContext(LanguageContext)];
  return (
    <main aria-label={title}>
      <Announcer />
      <OfflineBanner />
      {(brand || testMode) && (
        <div class="head">
          {brand && (
            <div class="brand">
              {brand.logo && <img src={brand.logo} alt="" />}
              <p>{brand.displayName}</p>
            </div>
          )}
          {testMode && <p class="badge">{texts.test}</p>}
        </div>
      )}
      {progress && <ProgressBar {...progress} />}
      {children}
      {brand && (
        <div class="foot">
          <p>
            <svg class="lock" viewBox="0 0 16 16" aria-hidden="true">
              <path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2M3 7h10v7H3z" />
            </svg>
            {texts.secure}
          </p>
          {brand.privacyUrl && (
            <a href={brand.privacyUrl} target="_blank" rel="noopener noreferrer">
              {texts.privacy}
            </a>
          )}
        </div>
      )}
    </main>
  );
}

function OfflineBanner() {
  const texts = PARTS[useContext(LanguageContext)];
  const [offline, setOffline] = useState(!navigator.onLine);
  useEffect(() => {
    const tell = (): void => {
      setOffline(!navigator.onLine);
      announce(navigator.onLine ? texts.online : texts.offline);
    };
    addEventListener('online', tell);
    addEventListener('offline', tell);
    return () => {
      removeEventListener('online', tell);
      removeEventListener('offline', tell);
    };
  }, [texts]);
  return offline ? <p class="offline">{texts.offline}</p> : null;
}
