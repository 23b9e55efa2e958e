// The frame around every screen: the progress, the connection's state, and the live region.
import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Progress } from '../progress.js';
import { announce, Announcer } from './announcer.js';
import { LanguageContext } from './language.js';
import { ProgressBar } from './progress.js';
import { PARTS } from './texts.js';

export interface LayoutProps {
  /** Distinguishes the frame's main part from that of the page. */
  readonly title: string;
  /** Null: the place has no progress to show. */
  readonly progress: Progress | null;
  readonly testMode: boolean;
  readonly children: ComponentChildren;
}

export function Layout({ title, progress, testMode, children }: LayoutProps) {
  const texts = PARTS[useContext(LanguageContext)];
  return (
    <main aria-label={title}>
      <Announcer />
      <OfflineBanner />
      {(progress || testMode) && (
        <div class="above">
          {progress && <ProgressBar {...progress} />}
          {testMode && <p class="badge">{texts.test}</p>}
        </div>
      )}
      {children}
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
