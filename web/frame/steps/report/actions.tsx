// Print and download. The page around the frame may print and download; otherwise the frame does.
import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import type { Report } from '../../api/wire.js';
import type { Journey } from '../../journey.js';
import { announce, useAnnounced } from '../../parts/announcer.js';
import { useTexts } from '../../parts/language.js';
import { Alert, Button } from '../../parts/step.js';
import { TEXTS } from './texts.js';

const PRINTING_LIMIT_MS = 60_000;
const FETCHING_LIMIT_MS = 30_000;
/** A minute is more than enough for a PDF that is in memory. */
const SAVING_LIMIT_MS = 60_000;

type Problem = 'notSaved' | 'tooManyPdfs' | 'notPrinted';

export interface ActionsProps {
  readonly journey: Journey;
  readonly sessionId: string;
  readonly report: Report;
  readonly html: string;
  readonly page: RefObject<HTMLIFrameElement | null>;
}

export function Actions({ journey, sessionId, report, html, page }: ActionsProps) {
  const texts = useTexts(TEXTS);
  const [preparing, setPreparing] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [done, setDone] = useState<'printed' | 'saved' | null>(null);
  useAnnounced(preparing ? texts.preparing : null);

  function begin(): void {
    setProblem(null);
    setDone(null);
  }

  function end(how: 'printed' | 'saved'): void {
    setDone(how);
    announce(texts[how]);
  }

  async function print(): Promise<void> {
    begin();
    if (await journey.askPage('handlePrintRequested', sessionId)) return;
    try {
      page.current?.contentWindow?.print();
      end('printed');
    } catch {
      setProblem('notPrinted');
    }
  }

  async function download(): Promise<void> {
    begin();
    if (await journey.askPage('handleDownloadRequested', sessionId)) return;
    setPreparing(true);
    const filename = filenameOf(report);
    const pdf = await pdfOf(journey, sessionId, { html, filename });
    setPreparing(false);
    if (typeof pdf === 'string') return setProblem(pdf);
    save(pdf, filename);
    end('saved');
  }

  return (
    <>
      <div class="actions">
        <Button kind="secondary" onPress={() => void print()}>
          {texts.print}
        </Button>
        <Button kind="secondary" busy={preparing} onPress={() => void download()}>
          {preparing ? texts.preparing : texts.download}
        </Button>
      </div>
      {problem && <Alert>{texts[problem]}</Alert>}
      {done && <p class="hint told">{texts[done]}</p>}
    </>
  );
}

/** The name of the person and the day of the report, in letters that every system accepts. */
function filenameOf({ report: { consumer }, generatedAt }: Report): string {
  const name = consumer.name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return `${['screening-report', name, generatedAt.slice(0, 10)].filter((part) => part !== '').join('-')}.pdf`;
}

async function pdfOf(
  { api }: Journey,
  sessionId: string,
  body: { readonly html: string; readonly filename: string },
): Promise<Blob | Problem> {
  const printed = await api.call<{ readonly url: string }>({
    method: 'POST',
    path: `/reports/${sessionId}/pdf`,
    body,
    timeoutMs: PRINTING_LIMIT_MS,
  });
  if (!printed.ok) return printed.status === 429 ? 'tooManyPdfs' : 'notSaved';
  try {
    // The link is valid for some minutes and needs no token. The PDF is fetched here, because a frame that navigated to an invalid link would lose
    // its content. Browsers would block a new window this late after the press.
    const reply = await fetch(printed.body.url, {
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(FETCHING_LIMIT_MS),
    });
    return reply.ok ? await reply.blob() : 'notSaved';
  } catch {
    return 'notSaved';
  }
}

function save(pdf: Blob, filename: string): void {
  const url = URL.createObjectURL(pdf);
  const link = document.createElement('a');
  link.href = url;
  link.download = filename;
  link.click();
  // Some browsers read the file later than the press, and save nothing if the file has been removed.
  setTimeout(() => URL.revokeObjectURL(url), SAVING_LIMIT_MS);
}
