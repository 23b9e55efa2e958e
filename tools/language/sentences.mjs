// Divides prose into sentences and reports their faults. The module reads comments, titles, documents and commit subjects.
import { LONGEST_SUBJECT, MOST_WORDS, PATTERNS, RETIRED } from './list.mjs';

/** The faults of a text in plain prose: paragraphs, lists and headings, separated by lines. */
export function faultsIn(text) {
  return sentencesOf(text).flatMap((sentence) => faultsOf(sentence).map((fault) => ({ sentence, ...fault })));
}

/** One fault as a sentence for people. */
export const told = ({ sentence, name, instead }) => `"${shortened(sentence)}" (${name}): ${instead}.`;

export function sentencesOf(text) {
  return paragraphsOf(text).flatMap((paragraph) =>
    withoutCode(paragraph)
      .split(/(?<=[.!?]["')*_]*)\s+(?=[^a-z\s])/)
      .map((sentence) => sentence.trim())
      .filter((sentence) => /\p{L}/u.test(sentence)),
  );
}

/** The faults of a commit's subject: its length, its area, its verb, and those of its sentence. */
export function faultsInSubject(subject) {
  const faults = [];
  if (subject.length > LONGEST_SUBJECT)
    faults.push({
      name: 'long-subject',
      instead: `write at most ${LONGEST_SUBJECT} characters, and the reason in the body`,
    });
  const [, said] = /^[a-z0-9][\w ,./-]*: (.+)$/.exec(subject) ?? [];
  if (said === undefined) faults.push({ name: 'no-area', instead: 'write "area: imperative"' });
  else if (/^(?:the|an?|it|each|every|no|there|this|that|these|those|only|\w+[^su]s) /i.test(said))
    faults.push({ name: 'no-imperative', instead: 'begin with the verb, as an order: "area: keep the revision"' });
  return [...faults.map((fault) => ({ sentence: subject, ...fault })), ...faultsIn(said ?? subject)];
}

function faultsOf(sentence) {
  const words = sentence.split(/\s+/).filter((token) => /[\p{L}\p{N}]/u.test(token)).length;
  return [
    ...PATTERNS.filter(({ pattern }) => pattern.test(sentence)).map(({ name, instead }) => ({ name, instead })),
    ...RETIRED.flatMap(({ word, use }) => {
      const [found] = word.exec(sentence) ?? [];
      return found === undefined ? [] : [{ name: 'retired-word', instead: `"${found}" is retired, write: ${use}` }];
    }),
    ...(words > MOST_WORDS
      ? [{ name: 'long-sentence', instead: `make two of its ${words} words, at most ${MOST_WORDS} in each` }]
      : []),
  ];
}

/** Separated by empty lines, items of lists, headings and tags of doc comments. */
function paragraphsOf(text) {
  return text
    .replace(/^[ \t]*#{1,6}[ \t].*$/gm, '$&\n')
    .split(/\n[ \t]*(?=\n|(?:[-*+]|\d+\.)[ \t]|#{1,6}[ \t]|@\w)/)
    .map((paragraph) => paragraph.replace(/^\s*(?:(?:[-*+]|\d+\.|#{1,6})[ \t]+|@\w+[ \t]*)/, '').replace(/\s+/g, ' '));
}

/** Code and an address count as one word each. Code may contain any word. */
const withoutCode = (text) =>
  text
    .replace(/\{@link ([^}]*)\}/g, 'Code')
    .replace(/`[^`]*`/g, 'Code')
    .replace(/\bhttps?:\/\/\S+/g, 'Address');

const shortened = (text) => (text.length > 100 ? `${text.slice(0, 100)}...` : text);
