// Observes the browsers that the tests of PDFs start, and reads the printed pages.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ChromiumPdfRenderer, type ChromiumPdfRendererOptions } from '../../src/adapters/pdf-renderer/chromium.js';
import { BROWSERS, findChromium } from '../../src/adapters/pdf-renderer/chromium-executable.js';
import type { RenderedPdf } from '../../src/ports/pdf-renderer.js';
import { PATIENCE_MS, until } from './eventually.js';

export const executablePath = process.env['CHROMIUM_PATH'] || null;
export const searchPath = process.env['PATH'] ?? '';

/** Opens pages in the same way as the printing service. */
export const pageBrowser = needed(findChromium(executablePath, searchPath));
/** A browser like those that people use. Such a browser is slower. */
export const browserOfPeople = (): string => needed(findChromium(null, searchPath, BROWSERS) ?? executablePath);

/** The page and its frame share one process. The tests of a screen use less CPU with it. */
export const ONE_PROCESS = ['--disable-site-isolation-trials', '--disable-features=IsolateOrigins,site-per-process'];

/** Gives each site a process of its own by default, like the browsers that people use. */
export function browserArguments(isolation: readonly string[] = ['--site-per-process']): string[] {
  // In a container, the browser's own sandbox cannot make namespaces.
  return ['--no-sandbox', ...isolation];
}

function needed(browser: string | null): string {
  if (browser === null)
    throw new Error('These tests need Chromium: install it so that it is on the PATH, or set CHROMIUM_PATH.');
  return browser;
}

/** A renderer whose default time limit is enough for a page on a busy machine. */
export const aRenderer = (options: Partial<ChromiumPdfRendererOptions> = {}): ChromiumPdfRenderer =>
  new ChromiumPdfRenderer({ executablePath, searchPath, limitMs: PATIENCE_MS, ...options });

/** A link marks a printed part, because the PDF contains the link's address as plain text. */
export const mark = (name: string): string => `<a href="http://${name}.invalid/">${name}</a>`;
export const marksIn = (pdf: string): string[] =>
  [...pdf.matchAll(/\/URI \(http:\/\/([a-z-]+)\.invalid\/\)/g)].map(([, name]) => name!);
export const textOf = (rendered: RenderedPdf): string => {
  if (rendered.kind !== 'pdf') throw new Error(`The page was not printed: ${rendered.kind}`);
  return Buffer.from(rendered.content).toString('latin1');
};

/** Keeps a browser busy for minutes while it prints. */
export const SPINNING = '<div style="height:99999999px;background:linear-gradient(red,blue)">x</div>';

/** All child processes of this process, each with its id and command line. */
export async function processesBelow(parent: number): Promise<{ readonly pid: number; readonly command: string }[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat=,args=', '-ww'], {
    maxBuffer: 16_000_000,
  });
  const all = stdout.split('\n').flatMap((line) => {
    const [, pid, ppid, stat = '', command = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return stat.startsWith('Z') ? [] : [{ pid: Number(pid), ppid: Number(ppid), command }];
  });
  const below = (of: number): { pid: number; command: string }[] =>
    all.filter(({ ppid }) => ppid === of).flatMap((child) => [child, ...below(child.pid)]);
  return below(parent);
}

export async function browserProcesses(): Promise<{ readonly pid: number; readonly command: string }[]> {
  return (await processesBelow(process.pid)).filter(
    ({ command }) => command.includes('--remote-debugging-pipe') && !command.includes('--type='),
  );
}

export const browsers = async (): Promise<number[]> => (await browserProcesses()).map(({ pid }) => pid);
export const pages = async (): Promise<number[]> =>
  (await processesBelow(process.pid))
    .filter(({ command }) => command.includes('--type=renderer'))
    .map(({ pid }) => pid);

export function kill9(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // The process may have ended in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Finds a running browser that has a page and is not the given browser. */
export async function browserWithPage(known = 0): Promise<number> {
  let other: number | undefined;
  await until('a browser has a page', async () => {
    [other] = (await pages()).length > 0 ? (await browsers()).filter((pid) => pid !== known) : [];
    return other !== undefined;
  });
  return other as number;
}

export const noPageIsLeft = (): Promise<void> => until('no page is left', async () => (await pages()).length === 0);
