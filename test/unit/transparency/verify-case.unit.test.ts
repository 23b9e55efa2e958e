// The verifier reads case files as the exporter made them, and case files that were changed afterwards.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { unzipSync, zipSync } from 'fflate';
import type { Manifest } from '../../../src/transparency/case-file.js';
import { policyText } from '../../../src/transparency/checkpoint.js';
import { linesOf, type Report, verifyCase } from '../../../src/transparency/verify-case.mjs';
import {
  changed,
  changeJson,
  type ChangeFiles,
  KEYS,
  LogInMemory,
  OTHER_KEYS,
  removed,
} from '../../support/case-files.js';

const POLICY = policyText(KEYS.verifiers);

let log: LogInMemory;
let screening: string;
let zip: Uint8Array;
/** The indexes of the case. */
let indexes: readonly number[];

beforeAll(async () => {
  log = await LogInMemory.of(100);
  screening = log.screenings[45] ?? '';
  zip = await log.caseOf(screening);
  indexes = (JSON.parse(Buffer.from(unzipSync(zip)['manifest.json'] ?? []).toString()) as Manifest).events;
});

const refusal = async (file: Uint8Array, options = {}): Promise<Report['refused']> =>
  (await verifyCase(file, options)).refused;

describe('a case file as it was exported', () => {
  it('is proved, and the report says which facts have no proof', async () => {
    const report = await verifyCase(zip);
    expect(linesOf(report).join('\n')).toBe(`Proved:
  - The log log.example/log signed a tree of 600 events with the key ${KEYS.signer.verifier.text}.
  - All 6 events of the file are in this tree, unchanged.
  - Of the screening ${screening}: 5 events. Of shared streams: 1 event.

Not proved:
  - That this is the key of the log: it came with the case file. Give your own policy (--policy).
  - That the log shows one history to everybody: no witness cosigned the checkpoint.
  - That the file has all events of the case. verify-case.mjs counts them with --log.
  - The times in the events, and manifest.json. The service wrote them.
  - The text of timeline.html, timeline.pdf and the documents. verify.html shows the proved events itself.

The case file holds.`);
  });

  it('is complete when the log counts the events of the case, also after the log has grown', async () => {
    const report = await verifyCase(zip, { policy: POLICY, log: log.read });
    expect(report.refused).toEqual([]);
    expect(report.proved).toContain('The log has 5 events of the case under the checkpoint. The file has all of them.');
    expect(report.open).not.toContainEqual(expect.stringContaining('--policy'));
    const other = await LogInMemory.of(100);
    const file = await other.caseOf(other.screenings[3] ?? '');
    other.addCase();
    other.add(`report-${other.screenings[3]}`, 'ReportViewed');
    await other.seal();
    const grown = await verifyCase(file, { policy: POLICY, log: other.read });
    expect(grown.refused).toEqual([]);
    expect(grown.open).toContain('The later events of the case: the log has 1 after the checkpoint of the file.');
  });

  it('has the tag of the screening when an event of a shared stream comes first', async () => {
    const own = new LogInMemory();
    own.add('consent-01234567', 'ConsentGiven');
    own.add('screening-01234567', 'ScreeningSubmitted');
    await own.seal();
    const report = await verifyCase(await own.caseOf('01234567'), { log: own.read });
    expect(report.refused).toEqual([]);
    expect(report.proved).toContain('Of the screening 01234567: 1 event. Of shared streams: 1 event.');
  });

  it('has the canonical bytes of each event, whose SHA-256 is in the entry of the log', () => {
    const files = unzipSync(zip);
    expect(Object.keys(files).filter((name) => !name.startsWith('events/'))).toEqual([
      'manifest.json',
      'checkpoint',
      'policy',
      'timeline.html',
      'timeline.pdf',
      'verify-case.mjs',
      'verify.html',
    ]);
    expect(files['verify-case.mjs']).toEqual(new Uint8Array(readFileSync('src/transparency/verify-case.mjs')));
    expect(readFileSync('src/transparency/verify-case.mjs', 'utf8').split('\n').length - 1).toBeLessThan(400);
    const timeline = Buffer.from(files['timeline.html'] ?? []).toString();
    expect(timeline).toContain('Server of an account, with a secret key (key-1)');
    expect(timeline).toContain('<b>Report viewed</b>');
    expect(timeline).not.toContain('<b>"quoted"');
  });
});

describe('a changed case file is refused, and the reason is named', () => {
  const named = (index: number, kind = 'json'): string => `events/${indexes[index]}.${kind}`;
  it.each<[string, ChangeFiles, () => string]>([
    [
      'an event changed',
      (files) => changeJson(files, named(1), (event: object) => ({ ...event, type: 'IdentityRefused' })),
      () => `${named(1)} is not in the tree: the event or its proof was changed, or it is of another case.`,
    ],
    ['an event left out', (files) => removed(files, named(2)), () => `The zip has no ${named(2)}.`],
    [
      'an event and its line in the manifest left out',
      (files) => {
        removed(files, named(1), named(1, 'tlog-proof'));
        changeJson(files, 'manifest.json', (manifest: Manifest) => ({
          ...manifest,
          events: indexes.filter((index) => index !== indexes[1]),
        }));
      },
      () => `The file leaves out events of screening-${screening} before its revision 2.`,
    ],
    [
      'an event that the manifest does not list',
      (files) => (files['events/1.json'] = files[named(0)] as Uint8Array),
      () => 'The zip has events/1.json, but manifest.json does not list it.',
    ],
    [
      'two proofs swapped',
      (files) => {
        const [one, other] = [named(0, 'tlog-proof'), named(1, 'tlog-proof')];
        [files[one], files[other]] = [files[other] as Uint8Array, files[one] as Uint8Array];
      },
      () => `${named(0, 'tlog-proof')} is not of the event ${indexes[0]}.`,
    ],
    [
      'the hashes of a proof swapped',
      (files) => {
        const [one, other] = [named(0, 'tlog-proof'), named(1, 'tlog-proof')];
        files[one] = Buffer.from(
          Buffer.from(files[other] ?? [])
            .toString()
            .replace(`index ${indexes[1]}`, `index ${indexes[0]}`),
        );
      },
      () => `${named(0)} is not in the tree: the event or its proof was changed, or it is of another case.`,
    ],
    [
      'a checkpoint of another key',
      (files) => {
        const text = log.note.slice(0, log.note.indexOf('\n\n') + 1);
        files['checkpoint'] = Buffer.from(OTHER_KEYS.signer.note(text));
      },
      () => 'checkpoint is not signed by a key of the policy.',
    ],
    [
      'the tag of another case',
      (files) =>
        changeJson(files, 'manifest.json', (manifest: Manifest) => ({
          ...manifest,
          caseTag: Buffer.alloc(32, 9).toString('base64'),
        })),
      () => `${named(0)} is not in the tree: the event or its proof was changed, or it is of another case.`,
    ],
    [
      'the name of another screening',
      (files) =>
        changeJson(files, 'manifest.json', (manifest: Manifest) => ({ ...manifest, screening: log.screenings[0] })),
      () => `The file has no first event of the screening ${log.screenings[0]} under the tag of the case.`,
    ],
    [
      'a note with another size',
      (files) => (files['checkpoint'] = Buffer.from(log.note.replace('\n600\n', '\n601\n'))),
      () => 'checkpoint has a wrong signature of log.example/log.',
    ],
    [
      'a note without its last line break',
      (files) => (files['checkpoint'] = Buffer.from(log.note.trimEnd())),
      () => 'checkpoint is not a checkpoint.',
    ],
    [
      'a path out of the folder',
      (files) => (files['../evil.json'] = Buffer.from('{}')),
      () => 'The zip has a file "../evil.json", and no case file has it.',
    ],
    [
      'an absolute path',
      (files) => (files['/etc/passwd'] = Buffer.from('')),
      () => 'The zip has a file "/etc/passwd", and no case file has it.',
    ],
  ])('%s', async (_, change, reason) => {
    expect(await refusal(changed(zip, change))).toContain(reason());
  });

  it('a whole file of another key, if the reader has the policy', async () => {
    const forged = await LogInMemory.of(2);
    await forged.seal(OTHER_KEYS);
    const file = await forged.caseOf(forged.screenings[0] ?? '', { keys: OTHER_KEYS });
    expect(await refusal(file)).toEqual([]);
    expect(await refusal(file, { policy: POLICY })).toEqual(['checkpoint is not signed by a key of the policy.']);
  });

  it('the last event left out, if the log counts the events', async () => {
    const last = indexes.at(-1);
    const file = changed(zip, (files) => {
      removed(files, `events/${last}.json`, `events/${last}.tlog-proof`);
      changeJson(files, 'manifest.json', (manifest: Manifest) => ({ ...manifest, events: indexes.slice(0, -1) }));
    });
    expect(await refusal(file)).toEqual([]);
    expect(await refusal(file, { log: log.read })).toEqual([
      `The case file leaves out events of the case. The log has them at ${last}.`,
    ]);
  });

  it('an entry of the log changed, and a log that was cut', async () => {
    const copy = new Map(log.files);
    const read = async (path: string): Promise<Buffer | null> => copy.get(path) ?? null;
    const path = 'tile/entries/000';
    copy.set(path, Buffer.from(copy.get(path) ?? []).fill(1, 5, 20));
    expect(await refusal(zip, { log: read })).toEqual([
      'The log does not have the root of the checkpoint of the case file.',
    ]);
    copy.delete(path);
    expect(await refusal(zip, { log: read })).toEqual([`The file ${path} of the log is missing or too short.`]);
    const shorter = await LogInMemory.of(1);
    expect(await refusal(zip, { log: shorter.read })).toEqual([
      'The log has 6 events, but the case file proves that it had 600.',
    ]);
  });

  it('every truncation, and bytes that are hidden in the zip', async () => {
    const truncated = [1, 21, 22, 500, zip.length - 10, zip.length].map((cut) => zip.slice(0, zip.length - cut));
    for (const file of truncated) expect(await refusal(file)).toEqual(['The zip is truncated or damaged.']);
    const hidden = Buffer.concat([Buffer.from('hidden'), zip]);
    expect(await refusal(hidden)).toHaveLength(1);
    const twice = Buffer.from(zipSync({ checkpoint: Buffer.from('1'), checkpoinu: Buffer.from('2') }));
    const renamed = Buffer.from(twice.toString('latin1').replaceAll('checkpoinu', 'checkpoint'), 'latin1');
    expect(await refusal(renamed)).toEqual(['The zip has checkpoint twice.']);
  });
});
