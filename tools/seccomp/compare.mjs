// `node tools/seccomp/compare.mjs <default profile of an engine>` lists the calls that deploy/seccomp.json and that profile answer differently. The
// command fails when deploy/seccomp.json allows more than user namespaces. Docker's profile is in the repository moby/profiles.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * The sandbox of Chromium needs these calls, and no default profile allows them. Each name has the arguments with which deploy/seccomp.json allows
 * the call.
 */
export const USER_NAMESPACES = {
  chroot: () => true,
  clone: (flags) => (flags & 0x70000000) !== 0 && (flags & 0x0e020000) === 0,
  unshare: (flags) => flags === 0x10000000,
};

/**
 * Arguments that distinguish rules: each bit, each family of addresses, personalities, and the namespaces of the browser together. The kernel takes a
 * family from the lower half of its register, so each family has a second argument.
 */
const FIRST_ARGUMENTS = [
  ...Array.from({ length: 64 }, (_, family) => [family, family + 2 ** 32]).flat(),
  ...Array.from({ length: 32 }, (_, bit) => 2 ** bit),
  ...[0x20008, 0xffffffff, 0x70000000, 0x70020000, 0x12000000, 0x14000000, 0x18000000],
];

const MEETS = {
  SCMP_CMP_EQ: (given, value) => given === value,
  SCMP_CMP_NE: (given, value) => given !== value,
  SCMP_CMP_LT: (given, value) => given < value,
  SCMP_CMP_LE: (given, value) => given <= value,
  SCMP_CMP_GT: (given, value) => given > value,
  SCMP_CMP_GE: (given, value) => given >= value,
  SCMP_CMP_MASKED_EQ: (given, mask, expected) => Number(BigInt(given) & BigInt(mask)) === expected,
};

/** The rules for a container without capabilities, on the image's processors and a present-day kernel. */
function rulesOf({ syscalls }) {
  return syscalls.filter(({ action, includes: { caps = [], arches = ['amd64'] } = {}, excludes = {} }) => {
    const ours = (names) => names.includes('amd64') || names.includes('arm64');
    return action === 'SCMP_ACT_ALLOW' && caps.length === 0 && ours(arches) && !ours(excludes.arches ?? []);
  });
}

/** The calls that the profile allows: for each name, the first arguments. A rule about another argument counts as met. */
export function allowedBy(profile) {
  const allowed = new Map();
  for (const { names, args } of rulesOf(profile)) {
    const meets = (given) =>
      (args ?? []).every(({ index, value, valueTwo = 0, op }) => index !== 0 || MEETS[op](given, value, valueTwo));
    for (const name of names) {
      const values = allowed.get(name) ?? new Set();
      for (const given of FIRST_ARGUMENTS.filter(meets)) values.add(given);
      allowed.set(name, values);
    }
  }
  return allowed;
}

/** For each call that `ours` allows and `theirs` does not: its name and the first arguments. */
export function beyond(ours, theirs) {
  const known = allowedBy(theirs);
  return [...allowedBy(ours)].flatMap(([name, values]) => {
    const more = [...values].filter((value) => !known.get(name)?.has(value));
    return more.length === 0 ? [] : [{ name, values: more, whole: more.length === new Set(FIRST_ARGUMENTS).size }];
  });
}

/** The calls of this list that user namespaces do not need. */
export function excess(differences) {
  return differences.filter(({ name, values }) => !values.every((value) => USER_NAMESPACES[name]?.(value)));
}

const told = ({ name, values, whole }) =>
  whole ? name : `${name}(${values.map((value) => `0x${value.toString(16)}`).join(', ')})`;

function main(theirs) {
  const [own, other] = ['deploy/seccomp.json', theirs].map((file) => JSON.parse(readFileSync(file, 'utf8')));
  const more = beyond(own, other);
  const tooMuch = excess(more);
  console.log(`Allowed here only: ${more.map(told).join(', ') || 'nothing'}`);
  console.log(`Allowed there only: ${beyond(other, own).map(told).join(', ') || 'nothing'}`);
  if (tooMuch.length === 0) return;
  console.error(`User namespaces do not need: ${tooMuch.map(told).join(', ')}`);
  process.exitCode = 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main(process.argv[2]);
