// Notes, verifier keys, checkpoints and proofs in the published forms. The key and the note are the example of
// C2SP signed-note; one more key is a published vector of another implementation.
import { describe, expect, it } from '@jest/globals';
import { checkpointText, policyText, proofText, readCheckpoint } from '../../../src/transparency/checkpoint.js';
import { openNote, SignerKey, VerifierKey } from '../../../src/transparency/signed-note.js';

const VKEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const TEXT = 'This is an example message.\n';
const SIGNATURE =
  '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n';
const OTHER = '— example.com/other Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo=\n';
const ROOT = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';

const key = VerifierKey.parse(VKEY) as VerifierKey;

describe('a signed note', () => {
  it('opens with the published key, whatever others have signed too', () => {
    expect(openNote(`${TEXT}\n${SIGNATURE}`, [key])).toBe(TEXT);
    expect(openNote(`${TEXT}\n${OTHER}${SIGNATURE}`, [key])).toBe(TEXT);
  });

  it.each([
    ['another text', `This is an example massage.\n\n${SIGNATURE}`],
    ['only signatures of others', `${TEXT}\n${OTHER}`],
    ['a damaged signature', `${TEXT}\n${SIGNATURE.replace('Kuw', 'Kux')}`],
    ['a control character', `\t${TEXT}\n${SIGNATURE}`],
    ['a line that is no signature', `${TEXT}\n${SIGNATURE}nonsense\n`],
    ['no signature', TEXT],
  ])('does not open with %s', (_, note) => {
    expect(openNote(note, [key])).toBeNull();
  });

  it('of our own key opens with its verifier key', () => {
    const signer = new SignerKey('log.example/log', Buffer.alloc(32, 7));
    const note = signer.note('one\n\ntwo\n');
    const verifier = VerifierKey.parse(signer.verifier.text) as VerifierKey;
    expect(openNote(note, [key, verifier])).toBe('one\n\ntwo\n');
    expect(openNote(note, [key])).toBeNull();
  });
});

describe('a verifier key', () => {
  it('reads published keys and writes them unchanged', () => {
    for (const text of [VKEY, 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'])
      expect(VerifierKey.parse(text)?.text).toBe(text);
  });

  it.each([
    ['another id', VKEY.replace('530d903a', '530d903b')],
    ['another algorithm', 'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'],
    ['a longer key', 'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY=='],
    ['no name', VKEY.slice('example.com/foo'.length)],
  ])('is not a text with %s', (_, text) => {
    expect(VerifierKey.parse(text)).toBeNull();
  });
});

describe('a checkpoint', () => {
  const text = `example.com/behind-the-sofa\n20852163\n${ROOT}\n`;

  it('is read and written in the form of the standard', () => {
    const checkpoint = readCheckpoint(text);
    expect(checkpoint).toEqual({
      origin: 'example.com/behind-the-sofa',
      size: 20_852_163,
      root: Buffer.from(ROOT, 'base64'),
    });
    expect(checkpoint && checkpointText(checkpoint)).toBe(text);
  });

  it.each([
    ['no origin', `\n1\n${ROOT}\n`],
    ['a size with a leading zero', `a\n01\n${ROOT}\n`],
    ['a size that is no number', `a\n-1\n${ROOT}\n`],
    ['a short root', 'a\n1\nAAAA\n'],
  ])('is not a text with %s', (_, wrong) => {
    expect(readCheckpoint(wrong)).toBeNull();
  });

  it('stands in a proof file after the index and the hashes', () => {
    const note = `${text}\n${SIGNATURE}`;
    const root = Buffer.from(ROOT, 'base64');
    expect(proofText(7, [root, root], note)).toBe(
      `c2sp.org/tlog-proof@v1\nindex 7\n${ROOT}\n${ROOT}\n\n${text}\n${SIGNATURE}`,
    );
  });

  it('has a policy that names the keys and asks for no witness', () => {
    expect(policyText([key])).toBe(`log ${VKEY}\n\nquorum none\n`);
  });
});
