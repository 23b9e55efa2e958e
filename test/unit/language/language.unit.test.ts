// The list of patterns and retired words (tools/language), and the three places that must comply with it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Linter } from 'eslint';
import { proseOf, subjectsAfter } from '../../../tools/language/check.mjs';
import plugin from '../../../tools/language/eslint-plugin.mjs';
import { FINISHED_DOCUMENTS, FINISHED_FOLDERS, PATTERNS, RETIRED } from '../../../tools/language/list.mjs';
import { faultsIn, faultsInSubject, sentencesOf } from '../../../tools/language/sentences.mjs';

const namesIn = (text: string) => faultsIn(text).map(({ name }) => name);
const words = (count: number) => `${Array.from({ length: count }, () => 'word').join(' ')}.`;

/** For each pattern: sentences with the fault, and plain sentences that resemble them. */
const SAMPLES: Readonly<Record<string, { readonly faulty: readonly string[]; readonly plain: readonly string[] }>> = {
  pronoun: {
    faulty: ['Whoever asks first wins.', 'The id is nobody’s.', 'The one with whom it was shared.', 'It is read anew.'],
    plain: ['The caller that asks first wins.', 'The service reads it again.'],
  },
  'what-as-subject': {
    faulty: [
      'What arrives late is dropped.',
      'Who may ask is read here.',
      'Kept for an hour; what is older leaves.',
      'What a token says.',
    ],
    plain: ['The service drops late events.', 'What happens when two run at once?', 'It reads what the vendor sent.'],
  },
  'is-no': {
    faulty: [
      'A password that is no escaped text is taken as it is.',
      'Null when there is none.',
      'They are no faults.',
    ],
    plain: ['The account has no password.', 'The key is no longer valid.', 'A note is not a fault.'],
  },
  fronted: {
    faulty: [
      'Of two calls, the first is kept.',
      'Of a refund the amount is known.',
      'For how long documents are kept, in ms.',
      'By a restart the queue is emptied.',
      'Of a payment that was opened before, the secret is kept.',
    ],
    plain: [
      'The first of two calls is kept.',
      'For a call that the vendor has answered.',
      'To find it, call the directory.',
    ],
  },
  'so-many': {
    faulty: ['Each looks again at most so often.', 'A value may be stored for so long.'],
    plain: ['Each looks again five times.', 'It waits so long that the caller gives up.', 'As long as it is open.'],
  },
  riddle: {
    faulty: [
      'The line is let go of.',
      'The run was put off.',
      'It tells what came of it.',
      'Of two at once each waits.',
    ],
    plain: ['The dispatcher gives up the line.', 'The run is delayed.'],
  },
};

describe.each(PATTERNS)('the pattern $name', ({ name }) => {
  const { faulty, plain } = SAMPLES[name] ?? { faulty: [], plain: [] };

  it('has samples of both kinds', () => {
    expect([faulty.length, plain.length].every((count) => count > 0)).toBe(true);
  });

  it.each(faulty)('finds its fault in "%s"', (sentence) => {
    expect(namesIn(sentence)).toContain(name);
  });

  it.each(plain)('finds nothing in "%s"', (sentence) => {
    expect(namesIn(sentence)).toEqual([]);
  });
});

describe('sentences', () => {
  it('are at most 25 words long', () => {
    expect(namesIn(words(25))).toEqual([]);
    expect(namesIn(words(26))).toEqual(['long-sentence']);
    expect(namesIn(`${words(20)} W${words(20)}`)).toEqual([]);
  });

  it.each([
    'The reaction runs.',
    'A sweep finds it.',
    'The doors refuse it.',
    'The grant lapses.',
    'A Refusal is thrown.',
  ])('contain no retired word: "%s"', (sentence) => {
    expect(namesIn(sentence)).toEqual(['retired-word']);
  });

  it('may name code that holds a retired word', () => {
    expect(namesIn('Redis keeps the place at `{reaction:<name>}`.')).toEqual([]);
  });

  it('end at list items, headings, empty lines and tags', () => {
    expect(
      sentencesOf('# A title\nSome text\ngoes on. Then `code` ends.\n- first\n- second\n@returns the rest'),
    ).toEqual(['A title', 'Some text goes on.', 'Then Code ends.', 'first', 'second', 'the rest']);
  });

  it('are reported together with a better way to write them', () => {
    for (const { instead } of [...faultsIn('Whoever asks, sweeps.'), ...faultsIn(words(30))])
      expect(instead).toMatch(/name the person|recovery job|make two/);
    expect(RETIRED.every(({ use }) => use !== '')).toBe(true);
  });
});

describe('the subject of a commit', () => {
  it.each([
    ['long-subject', `http: ${'answer '.repeat(12)}`],
    ['no-area', 'Answer with 400'],
    ['no-imperative', 'http: the body is read once'],
    ['no-imperative', 'http: answers with 400'],
    ['pronoun', 'http: refuse nobody'],
    ['what-as-subject', 'http: what is set stays'],
  ])('has the fault %s: "%s"', (name, subject) => {
    expect(faultsInSubject(subject).map((fault) => fault.name)).toContain(name);
  });

  it.each(['http: answer targets that are not origin-form with 400', 'surfaces, config: pass the limit on'])(
    'is plain: "%s"',
    (subject) => {
      expect(faultsInSubject(subject)).toEqual([]);
    },
  );

  it('is read from the commits after the named commit', () => {
    const folder = mkdtempSync(join(tmpdir(), 'language-'));
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.test', ...args], {
        cwd: folder,
        encoding: 'utf8',
      });
    try {
      expect(subjectsAfter('HEAD', folder)).toBeNull();
      git('init', '--quiet');
      for (const subject of ['a: begin', 'b: go on', 'c: end'])
        git('commit', '--quiet', '--allow-empty', '--no-gpg-sign', '-m', subject);
      const [first] = git('rev-list', '--reverse', 'HEAD').split('\n');
      expect(subjectsAfter(first!, folder)).toEqual(['c: end', 'b: go on']);
      expect(subjectsAfter('0'.repeat(40), folder)).toBeNull();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the lint rule for language', () => {
  const lint = (code: string) =>
    new Linter({ configType: 'flat' })
      .verify(code, [
        {
          linterOptions: { reportUnusedDisableDirectives: 'off' },
          plugins: { language: plugin },
          rules: { 'language/plain': 'error' },
        },
      ])
      .map(({ line, message }) => `${line} ${message}`);

  it.each([
    ['a line', '// Whoever asks first wins.'],
    ['lines that follow one another', '// The first to ask wins. The other\n// is let\n// go of.'],
    ['a doc comment', '/**\n * The service\n * reads it anew.\n */'],
    ['a reason behind a directive', '/* eslint-disable no-undef -- nobody defines it */'],
    ['a title', "it('refuses nobody', () => {});"],
    ['the title of a table', "test.each([1])('is none when %s', () => {});"],
    ['the title of a template', 'describe.each`a`(`what ${1} does`, () => {});'],
  ])('reports a fault in %s', (_where, code) => {
    expect(lint(code)).toHaveLength(1);
  });

  it.each([
    ['comments that do not follow one another', '// One word\n\n// One word more: `nobody`.'],
    ['a text that is not a title', "call('whoever asks');"],
    ['a plain title', "it('answers 404 when the session is unknown', () => {});"],
    ['a directive', '// prettier-ignore'],
  ])('reports nothing in %s', (_where, code) => {
    expect(lint(code)).toEqual([]);
  });

  it('names the sentence and a better way to write it', () => {
    expect(lint('call();\n// Whoever asks first wins.')).toEqual([
      '2 "Whoever asks first wins." (pronoun): name the person or thing, or say "no caller", "a person", "again", "of it".',
    ]);
  });
});

describe('a document', () => {
  it('is checked without its code blocks, and its tables are checked cell by cell', () => {
    const prose = proseOf(
      [
        '# Title',
        '```sh',
        'whoever',
        '```',
        '| a | nobody |',
        '|---|---|',
        '[anew](a.md) is a link.',
        '<!-- whom -->',
      ].join('\n'),
    );
    expect(sentencesOf(prose)).toEqual(['Title', 'a', 'nobody', 'anew is a link.']);
  });
});

it('the places that must comply with the list exist', () => {
  for (const path of [...FINISHED_FOLDERS, ...FINISHED_DOCUMENTS])
    expect({ path, exists: existsSync(path) }).toEqual({ path, exists: true });
});
