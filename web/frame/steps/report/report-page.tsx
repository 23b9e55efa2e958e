// The report as the service renders it, in a separate frame without scripts.
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type { FrameSettings } from '../../../contract/frame-settings.js';
import { showReport } from '../../trusted-types.js';

export interface ReportPageProps {
  readonly settings: FrameSettings;
  readonly html: string;
  readonly title: string;
  readonly page: RefObject<HTMLIFrameElement | null>;
}

/** As high as its content, so that the page around it scrolls. */
export function ReportPage({ settings, html, title, page }: ReportPageProps) {
  useEffect(() => {
    const frame = page.current;
    if (!frame) return;
    let observer: ResizeObserver | null = null;
    const fit = (): void => {
      const content = frame.contentDocument?.documentElement;
      if (!content) return;
      const theme = document.documentElement.dataset['theme'];
      if (theme !== undefined) content.dataset['theme'] = theme;
      observer?.disconnect();
      observer = new ResizeObserver(() => {
        const border = frame.offsetHeight - frame.clientHeight;
        frame.style.height = `${Math.ceil(content.getBoundingClientRect().height) + border}px`;
      });
      observer.observe(content);
    };
    frame.addEventListener('load', fit);
    showReport(settings, frame, html);
    return () => {
      frame.removeEventListener('load', fit);
      observer?.disconnect();
    };
  }, [html]);
  // The same origin lets the outer frame measure and print the report. Without allow-scripts, scripts in the report do not run.
  return <iframe class="report-page" ref={page} title={title} sandbox="allow-same-origin allow-modals" />;
}
