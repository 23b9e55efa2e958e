// For the suites of vendors that return their answers together with their verdicts.
import type { Replied } from '../../src/kernel/vendor-reply.js';

type Operation = (...input: never[]) => Promise<object>;

/**
 * The same port with verdicts that omit the vendor's answers, also inside outcomes. Tests of the verdicts alone use
 * this port.
 */
export function withoutReplies<Port extends object>(port: Port): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...input: never[]) => bare(await (member as Operation).apply(target, input));
    },
  });
}

function bare(verdict: (Replied & { readonly verdict?: Replied }) | undefined): object | undefined {
  if (verdict === undefined) return undefined;
  const { reply: _, ...rest } = verdict;
  return rest.verdict === undefined ? rest : { ...rest, verdict: bare(rest.verdict) };
}
