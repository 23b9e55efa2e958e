// The places outside the reach of the log's writers, as they are configured.
import type { Anchor } from '../ports/anchors.js';
import { policyText } from './checkpoint.js';
import type { SealKeys } from './seal-keys.js';
import { TimeStampAuthority } from './time-stamps.js';
import { Witness } from './witness.js';

export interface Outside {
  readonly witnesses: readonly Witness[];
  readonly anchors: readonly Anchor[];
  readonly authority: TimeStampAuthority | null;
  /** The shortest time between two time stamps. */
  readonly timeStampIntervalMs: number;
  /** The content of the file `policy`. */
  readonly policy: string;
}

/** As in SealSettings. */
interface Configured {
  readonly witnesses: readonly { readonly name: string; readonly key: string; readonly url: string }[];
  readonly witnessQuorum: number;
  readonly timeStampUrl: string | null;
  readonly timeStampInterval: number;
}

export function outsideOf(keys: SealKeys, settings: Configured, anchors: readonly Anchor[]): Outside {
  const { witnesses, witnessQuorum, timeStampUrl, timeStampInterval } = settings;
  return {
    witnesses: witnesses.map(({ key, url }) => new Witness(key, url)),
    anchors,
    authority: timeStampUrl === null ? null : new TimeStampAuthority(timeStampUrl),
    timeStampIntervalMs: timeStampInterval * 1_000,
    policy: policyText(keys.verifiers, witnesses, witnessQuorum),
  };
}
