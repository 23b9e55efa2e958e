// The case about verdicts that need the person: the person acts at the vendor, round by round, until the vendor decides.
import type { UserAction } from '../../kernel/user-action.js';
import { type Laboratory, UNDISTURBED_MS } from './laboratory.js';
import { type Operation, type Verdict, grants, newCall } from './operations.js';

const MOST_ROUNDS = 5;

export async function brokenRoundRules(laboratory: Laboratory, operation: Operation): Promise<readonly string[]> {
  const { act } = laboratory.double;
  if (act === undefined) return ['the double does not tell how the person acts'];
  const ask = await laboratory.prepared(operation);
  return laboratory.withAdapters(UNDISTURBED_MS, async (adapters) => {
    const call = newCall();
    const openings = new Set<string>();
    let verdict: Verdict = await ask(adapters, call);
    for (let round = 0; verdict.kind === 'needs-user' && round < MOST_ROUNDS; round += 1) {
      const { open, until } = verdict;
      if (open === undefined || until === undefined || !isOpenable({ open, until }))
        return ['the verdict needs-user has no web address and no SDK, or no end in the future'];
      if (openings.has(JSON.stringify(open))) return ['a round has the opening of an earlier round'];
      openings.add(JSON.stringify(open));
      const repeated = await (operation.again ?? ask)(adapters, call, verdict);
      if (repeated.kind !== 'needs-user') return [`the verdict is ${repeated.kind} before the person has acted`];
      await act(open, laboratory.url);
      verdict = await (operation.again ?? ask)(adapters, call, verdict);
    }
    return grants(verdict) ? [] : [`the verdict is ${verdict.kind} after the person has acted`];
  });
}

function isOpenable({ open, until }: UserAction): boolean {
  const end = new Date(until);
  if (Number.isNaN(end.getTime()) || end.toISOString() !== until || end.getTime() <= performance.timeOrigin)
    return false;
  return 'url' in open ? /^https?:$/.test(URL.parse(open.url)?.protocol ?? '') : open.sdk !== '' && open.token !== '';
}
