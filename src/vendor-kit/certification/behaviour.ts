// The record of an adapter's behaviour: its requests, its verdicts, and its verdicts after one change of an answer. A vendor's folder keeps the record in
// behaviour.json, and a certification compares the adapter with the record.
import { type Canaries } from '../canaries.js';
import type { CertifiedDouble, Role } from '../double/certified-double.js';
import { type Change, changesOf, reasonsOf } from './changes.js';
import { FAULTS } from './faults.js';
import { type Laboratory, type Observation, always, rolesIn } from './laboratory.js';
import { type Act, type Operation, type Verdict, fits } from './operations.js';
import { type Answer, type Fault, JSON_TYPE } from './proxy.js';
import { mainRoleOf } from './rules.js';

/** A JSON value by the name of an operation. The values of two runs are equal. */
export type Behaviour = Readonly<Record<string, Json>>;
export type Json = string | number | boolean | null | { readonly [name: string]: Json };

type DocumentedError = NonNullable<CertifiedDouble['errors']>[number];

/** An observed operation that can be repeated with the same answers. */
interface Script {
  readonly name: string;
  readonly act: Act;
  readonly seen: Observation;
  readonly answers: ReadonlyMap<Role, readonly Answer[]>;
  /** The roles whose answers are changed. */
  readonly roles: readonly Role[];
  /** The role whose requests get no answer. */
  readonly lost: Role | null;
}

export interface Recorded {
  readonly operations: readonly Operation[];
  /** The operations whose answers are changed. */
  readonly kinds: readonly Operation[];
  readonly errors: readonly DocumentedError[];
  readonly withChanges: boolean;
}

/** An adapter that asks more often than this does not end by itself. */
const MOST_REPEATS = 3;
const RESET = FAULTS.find(({ name }) => name === 'reset after the request is executed') as Fault;

export class Recorder {
  constructor(
    private readonly laboratory: Laboratory,
    /** Runs at most some works at a time. */
    private readonly lane: <Value>(work: () => Promise<Value>) => Promise<Value>,
    /** Whether a text is of a persona, so that it is the same in every run. */
    private readonly isPersonal: (text: string) => boolean,
  ) {}

  /** The record in parts, each with its name. */
  async *parts({
    operations,
    kinds,
    errors,
    withChanges,
  }: Recorded): AsyncGenerator<readonly [name: string, told: Json]> {
    const known = new Map<Operation, Script>();
    const facts = operations.map(async (operation, place) => {
      const [one, other] = [await this.observed(operation), await this.observed(operation)];
      known.set(operation, one);
      return [`${place + 1} ${operation.name}`, this.common(factsOf(one.seen), factsOf(other.seen))] as const;
    });
    yield* await Promise.all(facts);
    const documented = errors.map(async (error) => {
      const script = scriptOf(known, error);
      return [nameOf(error), script === undefined ? null : resultOf(await this.answered(script), null)] as const;
    });
    yield* await Promise.all(documented);
    if (!withChanges) return;
    const scripts = kinds.flatMap((operation) => known.get(operation) ?? []);
    const [first] = scripts;
    if (first !== undefined) yield* this.changes([{ ...first, name: 'an access token', roles: ['token'] }], []);
    yield* this.changes(scripts, scripts);
    const lost = await Promise.all(firsts(kinds, ({ method }) => method).map((one) => this.withLostAnswer(one, known)));
    yield* this.changes(
      lost.flatMap((script) => script ?? []),
      scripts,
    );
    // Errors of one shape are read alike, so one of them is changed.
    const shapes = firsts(errors, ({ operation, body }) => `${operation} ${shapeOf(body)}`);
    for (const script of shapes.flatMap((error) => scriptOf(known, error) ?? [])) {
      const seen = { ...script.seen, verdict: await this.answered(script) };
      yield* this.changes([{ ...script, seen }], []);
    }
  }

  /** `others`: scripts whose words are tried as well. */
  private async *changes(scripts: readonly Script[], others: readonly Script[]) {
    for (const script of scripts) yield [`changes of ${script.name}`, await this.changed(script, others)] as const;
  }

  /** The facts that two runs have in common. Ids vary, and days depend on the day of the run. */
  private common(one: unknown, other: unknown): Json {
    if (typeof one === 'object' && one !== null && typeof other === 'object' && other !== null) {
      const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
      const at = (value: object, name: string): unknown => (value as Record<string, unknown>)[name];
      const told = names.filter((name) => at(one, name) !== undefined);
      return Object.fromEntries(told.map((name) => [name, this.common(at(one, name), at(other, name))]));
    }
    if (typeof one !== 'string' || typeof other !== 'string') return Object.is(one, other) ? (one as Json) : VARIES;
    if (one === other) return DATE.test(one) && !this.isPersonal(one) ? VARIES : one;
    if (!one.startsWith('/')) return VARIES;
    const parts = other.split('/');
    return one
      .split('/')
      .map((part, at) => (part === parts[at] ? part : VARIES))
      .join('/');
  }

  private observed(operation: Operation): Promise<Script> {
    return this.lane(async () => {
      const act = await this.laboratory.prepared(operation);
      const seen = await this.laboratory.watch(act);
      return { name: operation.name, act, seen, answers: answersIn(seen), roles: withoutToken(seen), lost: null };
    });
  }

  /** The adapter asks for the outcome of a lost answer. */
  private async withLostAnswer(operation: Operation, known: ReadonlyMap<Operation, Script>): Promise<Script | null> {
    const script = known.get(operation);
    const lost = script && mainRoleOf(script.seen);
    if (!lost || operation.semantics !== 'at-most-once') return null;
    const act = await this.laboratory.prepared(operation);
    const seen = await this.lane(() => this.laboratory.watch(act, { faults: always(lost, RESET) }));
    const name = `${operation.name}, of which the answer is lost`;
    const roles = rolesIn(seen).filter(
      (role) => role === 'outcome' || (role === 'verdict' && !script.roles.includes(role)),
    );
    return roles.length === 0 ? null : { name, act, seen, answers: answersIn(seen), roles, lost };
  }

  /** The changes of each place, by the result. */
  private async changed(script: Script, others: readonly Script[]): Promise<Json> {
    const trials = script.roles.flatMap((role) => {
      const last = script.answers.get(role)?.at(-1);
      const alike = others.flatMap((other) => other.answers.get(role)?.at(-1) ?? []);
      return last === undefined ? [] : changesOf(last, alike).map((change) => ({ role, change }));
    });
    const told: Record<string, Record<string, string>> = {};
    const results = await Promise.all(trials.map(({ role, change }) => this.result(script, role, change)));
    trials.forEach(({ role, change: { place, name } }, at) => {
      const byResult = (told[`${role} ${place}`] ??= {});
      const result = results[at] ?? '';
      byResult[result] = [...(byResult[result]?.split(', ') ?? []), name].join(', ');
    });
    return told;
  }

  private answered(script: Script): Promise<Verdict | null> {
    return this.replayed(script, null, (told) => told);
  }

  private async result(script: Script, role: Role, { answer }: Change): Promise<string> {
    return resultOf(await this.replayed(script, role, () => answer), script.seen.verdict);
  }

  /** Null if the adapter throws. */
  private replayed(script: Script, changed: Role | null, change: (answer: Answer) => Answer): Promise<Verdict | null> {
    let again: (() => void) | undefined;
    const until = new Promise<void>((resolve) => (again = resolve));
    const faults = [...script.answers].map(([role, answers]) => {
      let asked = 0;
      const apply: Fault['apply'] = ({ answer, socket }) => {
        const last = answers.at(-1);
        const told = answers[asked] ?? last;
        asked += 1;
        if (asked > answers.length + MOST_REPEATS) again?.();
        if (role === script.lost || told === undefined) socket.resetAndDestroy();
        else answer(role === changed && told === last ? change(told) : told);
      };
      return [role, { name: 'a recorded answer', apply }] as const;
    });
    return this.lane(async () => {
      const seen = await this.laboratory.watch(
        script.act,
        { faults: Object.fromEntries(faults), until },
        script.seen.call,
      );
      if (seen.thrown !== null) return null;
      return seen.verdict ?? { kind: 'asks again' };
    });
  }
}

/** The first item of each kind. */
function firsts<Item>(items: readonly Item[], kindOf: (item: Item) => string): readonly Item[] {
  return [...new Map([...items].reverse().map((item) => [kindOf(item), item])).values()];
}

function withoutToken(seen: Observation): readonly Role[] {
  return rolesIn(seen).filter((role) => role !== 'token');
}

function answersIn({ requests }: Observation): ReadonlyMap<Role, readonly Answer[]> {
  const found = new Map<Role, Answer[]>();
  for (const { role, answer } of requests)
    if (role !== null) found.set(role, [...(found.get(role) ?? []), ...(answer === null ? [] : [answer])]);
  return found;
}

/** `clean`: the verdict of the answer without a change. */
function resultOf(verdict: Verdict | null, clean: Verdict | null): string {
  if (verdict === null) return 'the adapter throws';
  if (clean?.kind !== verdict.kind) return [verdict.kind, ...reasonsOf(verdict)].join(' ');
  const others = placesIn(verdict, clean);
  return others.length === 0 ? 'the same verdict' : `another ${others.join(', ')}`;
}

/** The places at which two verdicts differ. */
function placesIn(one: object, other: object): readonly string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names
    .filter((name) => name !== 'reply')
    .flatMap((name): readonly string[] => {
      const [a, b] = [(one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]];
      if (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null)
        return placesIn(a, b).map((inner) => `${name}.${inner}`);
      return fits(a, b) ? [] : [name];
    });
}

/** The requests and the verdict. A request that is repeated counts once, because the number of looks depends on the time. */
function factsOf({ requests, verdict }: Observation): unknown {
  const { reply: _reply, ...told } = verdict ?? { kind: 'none' };
  const own = requests.filter(({ role }) => role !== 'token');
  const sent = [...new Map(own.map((request) => [`${request.method} ${request.url}`, request])).values()];
  return { requests: sent.map(({ method, url, body }) => ({ method, url, ...contentOf(body) })), verdict: told };
}

function contentOf(body: string): object {
  if (body === '') return {};
  try {
    return { body: JSON.parse(body) as unknown };
  } catch {
    return { body: Object.fromEntries(new URLSearchParams(body)) };
  }
}

const VARIES = '<varies>';
const DATE = /\d{4}-\d{2}-\d{2}/;

/** The operation with the error as its answer. */
function scriptOf(known: ReadonlyMap<Operation, Script>, error: DocumentedError): Script | undefined {
  const base = [...known].find(([{ method }]) => method === error.operation)?.[1];
  const role = base && mainRoleOf(base.seen);
  if (!base || !role) return undefined;
  const answer = { status: error.status, headers: JSON_TYPE, body: JSON.stringify(error.body) };
  return { ...base, name: nameOf(error), answers: new Map([...base.answers, [role, [answer]]]), roles: [role] };
}

function nameOf({ operation, status, body }: DocumentedError): string {
  return `the answer ${status} ${JSON.stringify(body)} to ${operation}`;
}

/** The names in an error. */
function shapeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value;
  return JSON.stringify(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

/** The text of behaviour.json. The personal data of the personas are replaced by their names. */
export function textOf(results: Readonly<Record<string, Behaviour>>, canaries: Canaries): string {
  const text = JSON.stringify(results, null, 2);
  return `${[...canaries].reduce((scrubbed, [name, canary]) => scrubbed.replaceAll(canary, `<${name}>`), text)}\n`;
}

/** The differences between the behaviour and the committed text. `path`: the names of a part. */
export function differencesOf(text: string, recorded: string | null, path: readonly string[]): readonly string[] {
  if (recorded === null) return ['there is no behaviour.json, which npm run vendor:certify writes'];
  const partOf = (text: string): Json | undefined => {
    const whole = JSON.parse(text) as Json | undefined;
    return path.reduce((part, name) => membersOf(part)?.[name], whole);
  };
  return differences(path.join(': '), partOf(text), partOf(recorded));
}

function membersOf(value: Json | undefined): { readonly [name: string]: Json } | undefined {
  return typeof value === 'object' && value !== null ? value : undefined;
}

function differences(name: string, is: Json | undefined, was: Json | undefined): readonly string[] {
  const [own, committed] = [membersOf(is), membersOf(was)];
  if (own === undefined || committed === undefined)
    return is === was ? [] : [`${name}: ${JSON.stringify(is)}, and behaviour.json tells ${JSON.stringify(was)}`];
  return [...new Set([...Object.keys(own), ...Object.keys(committed)])].flatMap((inner) =>
    differences(`${name}: ${inner}`, own[inner], committed[inner]),
  );
}
