// A sample written by `npm run samples -- add` has the same form as the other samples.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { fold } from '../../../src/kernel/decider.js';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { isId } from '../../../src/kernel/ids.js';
import { credit, type CreditEvent } from '../../../src/modules/accounts/domain/credit.js';
import { linkTo } from '../../../src/platform/audit/chain.js';

interface Sample {
  readonly after: readonly string[];
  readonly event: RecordedEvent;
  readonly state: object;
}

const folder = mkdtempSync(join(tmpdir(), 'samples-'));
const read = (name: string): Sample => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Sample;
const add = (...args: string[]): { readonly status: number | null; readonly stderr: string } =>
  spawnSync(process.execPath, ['scripts/samples.mjs', 'add', ...args, '--folder', folder], { encoding: 'utf8' });

describe('an added sample', () => {
  cpSync(join(import.meta.dirname, 'samples'), folder, { recursive: true });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has the fields of the existing sample and the new fields, valid links and the resulting state', () => {
    expect(add('CreditDebited.noted', '{"note":"a new field"}')).toMatchObject({ status: 0 });
    const [known, added] = [read('CreditDebited'), read('CreditDebited.noted')];
    expect(added.after).toEqual(known.after);
    expect(added.event).toMatchObject({ type: 'CreditDebited', data: { ...known.event.data, note: 'a new field' } });
    expect([isId(added.event.id), added.event.id]).toEqual([true, expect.not.stringContaining(known.event.id)]);
    const { chain, ...metadata } = added.event.metadata;
    expect(linkTo(known.event.metadata.chain.prev, { ...added.event, metadata })).toEqual(chain);
    const history = [...added.after.map((name) => read(name).event), added.event];
    expect(added.state).toEqual(JSON.parse(JSON.stringify(fold(credit, history as RecordedEvent<CreditEvent>[]))));
  });

  it('follows the named samples when its type has no sample', () => {
    expect(add('CreditForgiven', '{"credits":1}')).toMatchObject({ status: 1 });
    expect(add('CreditForgiven', '{"credits":1}', '--after', 'CreditAdded')).toMatchObject({ status: 0 });
    const { event } = read('CreditForgiven');
    expect(event).toMatchObject({ revision: 1, stream: read('CreditAdded').event.stream, data: { credits: 1 } });
    expect(event.metadata.chain.prev).toBe(read('CreditAdded').event.metadata.chain.hash);
  });

  it('never replaces an existing sample', () => {
    expect(add('CreditDebited')).toMatchObject({ status: 1, stderr: expect.stringContaining('never edited') });
  });
});
