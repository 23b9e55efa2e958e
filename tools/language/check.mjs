// `npm run lint:language`: checks finished documents and subjects of new commits against the list. ESLint checks comments and titles.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { FINISHED_DOCUMENTS, LAST_FREE_COMMIT } from './list.mjs';
import { faultsIn, faultsInSubject, told } from './sentences.mjs';

/** The prose of a document: its code is left out, and each cell of a table is a text of its own. */
export function proseOf(markdown) {
  return markdown
    .replace(/^([ \t]*)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$/gms, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/<\/?[a-z][^>]*>/gi, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^[ \t]*\|(.*)\|[ \t]*$/gm, (_row, cells) => `\n${cells.split(/(?<!\\)\|/).join('\n\n')}\n`);
}

/** Subjects of the commits after `since`, or null if the history does not reach back to it. */
export function subjectsAfter(since, folder) {
  try {
    return git(folder, 'log', '--no-merges', '--format=%s', `${since}..HEAD`)
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return null;
  }
}

// Git's own message is dropped, because the caller says in plain words that the history is missing.
const git = (folder, ...args) =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

function main() {
  const faults = FINISHED_DOCUMENTS.flatMap((path) =>
    faultsIn(proseOf(readFileSync(path, 'utf8'))).map((fault) => `${path}: ${told(fault)}`),
  );
  const subjects = subjectsAfter(LAST_FREE_COMMIT, '.');
  if (subjects === null)
    console.log(`Commit subjects are not checked: the history does not reach back to ${LAST_FREE_COMMIT}.`);
  for (const subject of subjects ?? [])
    faults.push(...faultsInSubject(subject).map((fault) => `commit: ${told(fault)}`));
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main();
