// The verifier checks the cosignatures of witnesses, and the quorum of the reader's policy.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { policyText } from '../../../src/transparency/checkpoint.js';
import { SignerKey, VerifierKey } from '../../../src/transparency/signed-note.js';
import { type Report, verifyCase } from '../../../src/transparency/verify-case.mjs';
import { KEYS, LogInMemory } from '../../support/case-files.js';

const COSIGNED_AT = 1_772_366_400;
const NO_WITNESS = 'That the log shows one history to everybody: no witness cosigned the checkpoint.';
const NO_QUORUM = "checkpoint lacks cosignatures of the policy's quorum.";

class TestWitness {
  private readonly signer: SignerKey;
  private readonly verifier: VerifierKey;

  constructor(
    readonly name: string,
    seed: number,
  ) {
    this.signer = new SignerKey(name, Buffer.alloc(32, seed));
    this.verifier = new VerifierKey(name, this.signer.verifier.publicKey, 4);
  }

  get place() {
    return { name: this.name, key: this.verifier.text, url: `https://${this.name}` };
  }

  /** A line of C2SP tlog-cosignature for the note. `signed`: the seconds in the signed message. */
  cosigned(note: string, { signed = COSIGNED_AT } = {}): string {
    const text = note.slice(0, note.indexOf('\n\n') + 1);
    const own = this.signer.note(`cosignature/v1\ntime ${signed}\n${text}`);
    const signature = Buffer.from(own.trimEnd().split(' ').at(-1) ?? '', 'base64').subarray(4);
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(BigInt(COSIGNED_AT));
    return `— ${this.name} ${Buffer.concat([this.verifier.id, time, signature]).toString('base64')}\n`;
  }
}

const [ONE, TWO, THREE] = [
  new TestWitness('one.example', 11),
  new TestWitness('two.example', 12),
  new TestWitness('three.example', 13),
] as const;
const PLACES = [ONE, TWO, THREE].map(({ place }) => place);

let log: LogInMemory;
let note: string;

beforeAll(async () => {
  log = await LogInMemory.of(3);
  note = log.note;
});

/** The report on a case file whose checkpoint has these lines after the signature of the log. */
async function reported(lines: readonly string[], policy = policyText(KEYS.verifiers, PLACES, 2)): Promise<Report> {
  log.note = note + lines.join('');
  return verifyCase(await log.caseOf(log.screenings[1] ?? ''), { policy });
}

/** A policy with the groups of these lines. */
const policyWith = (...lines: readonly string[]): string =>
  policyText(KEYS.verifiers, PLACES).replace('quorum none', lines.join('\n'));

describe('a checkpoint with cosignatures', () => {
  it('holds when the quorum has cosigned, and the report names the witnesses and their times', async () => {
    const report = await reported([ONE.cosigned(note), THREE.cosigned(note)]);
    expect(report.refused).toEqual([]);
    expect(report.proved.filter((sentence) => sentence.startsWith('The witness'))).toEqual([
      'The witness one.example cosigned the checkpoint at 2026-03-01T12:00:00.000Z.',
      'The witness three.example cosigned the checkpoint at 2026-03-01T12:00:00.000Z.',
    ]);
    expect(report.open).not.toContain(NO_WITNESS);
  });

  it('is refused when fewer witnesses than the quorum cosigned, and two lines of one witness count once', async () => {
    expect((await reported([])).refused).toEqual([NO_QUORUM]);
    expect((await reported([TWO.cosigned(note)])).refused).toEqual([NO_QUORUM]);
    expect((await reported([TWO.cosigned(note), TWO.cosigned(note)])).refused).toEqual([NO_QUORUM]);
  });

  it('does not count a witness that the policy does not name', async () => {
    const unknown = new TestWitness('unknown.example', 14).cosigned(note);
    expect((await reported([ONE.cosigned(note), unknown])).refused).toEqual([NO_QUORUM]);
    const namesake = new TestWitness(ONE.name, 14).cosigned(note);
    expect((await reported([TWO.cosigned(note), namesake])).refused).toEqual([NO_QUORUM]);
    const free = await reported([unknown], policyText(KEYS.verifiers));
    expect([free.refused, free.open]).toEqual([[], expect.arrayContaining([NO_WITNESS])]);
  });

  it('is refused when a signature of a named witness is wrong, even above the quorum', async () => {
    const enough = [ONE.cosigned(note), TWO.cosigned(note)];
    const wrong = 'checkpoint has a wrong signature of three.example.';
    const otherTree = note.replace(`\n${log.events.length}\n`, '\n7\n');
    for (const line of [THREE.cosigned(otherTree), THREE.cosigned(note, { signed: COSIGNED_AT + 1 })])
      expect((await reported([...enough, line])).refused).toEqual([wrong]);
    const [, , encoded = ''] = THREE.cosigned(note).trimEnd().split(' ');
    const cut = Buffer.from(encoded, 'base64').subarray(0, 68).toString('base64');
    expect((await reported([...enough, `— three.example ${cut}\n`])).refused).toEqual([wrong]);
  });

  it('follows groups of groups, "any" and "all"', async () => {
    const nested = policyWith(
      'group pair any two.example three.example',
      'group both all one.example pair',
      'quorum both',
    );
    expect((await reported([ONE.cosigned(note), THREE.cosigned(note)], nested)).refused).toEqual([]);
    expect((await reported([TWO.cosigned(note), THREE.cosigned(note)], nested)).refused).toEqual([NO_QUORUM]);
    const single = policyWith('quorum two.example');
    expect((await reported([TWO.cosigned(note)], single)).refused).toEqual([]);
    expect((await reported([ONE.cosigned(note)], single)).refused).toEqual([NO_QUORUM]);
  });

  it.each([
    ['a quorum that no line defines', ['quorum nine.example'], 'The policy names no log or no quorum.'],
    ['no quorum', [], 'The policy names no log or no quorum.'],
    ['a group with an unknown member', ['group g 1 nine.example'], 'The policy has a group of unknown witnesses.'],
    [
      'a group that needs more members than it has',
      ['group g 3 one.example two.example', 'quorum g'],
      'The policy has a group without a number of witnesses.',
    ],
    [
      'a second quorum',
      ['quorum one.example', 'quorum none'],
      'The policy has a line that is not one of tlog-policy: "quorum none".',
    ],
  ])('is refused when the policy has %s', async (_, lines, reason) => {
    expect((await reported([ONE.cosigned(note)], policyWith(...lines))).refused).toEqual([reason]);
  });
});
