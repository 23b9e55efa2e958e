// The cases of a certification, and the level that their results give.
import { CAPABILITIES, type Capability } from '../../kernel/vendor-choice.js';
import { within } from '../../kernel/with-timeout.js';
import { OPTIONAL_OPERATIONS, type Vendor } from '../define-vendor.js';
import type { CertifiedDouble, CertifiedPersona, Role } from '../double/certified-double.js';
import { type Canaries, findingsOf } from '../canaries.js';
import { furtherPersonas } from './applicants.js';
import { FAULTS } from './faults.js';
import { type Circumstances, Laboratory, type Observation, UNDISTURBED_MS, always, rolesIn } from './laboratory.js';
import { type Certificate, LEVELS, type Level, type Result, behaviourOf } from '../certificate.js';
import { type Path, changesOf, decidingPaths, statusChanged, wordChanged } from './mutations.js';
import { NotPrepared, type Operation, PERSON, fits, grants, newCall } from './operations.js';
import { keepOutput } from './output.js';
import { isAt, textsOf } from './personal.js';
import { canariesOf, personalOf } from './protected-values.js';
import { type Fault, JSON_TYPE } from './proxy.js';
import { type Json, type Behaviour, Recorder, differencesOf, textOf } from './behaviour.js';
import { type Recording, recorded as recordedFirst } from './recording.js';
import { replayProblems } from './replay.js';
import { isDeclared, operationsOf } from './vendor-operations.js';
import { brokenMemoryRules, isRemembered } from './memory.js';
import { OtherCheck } from './other-checks.js';
import { brokenRoundRules } from './user-rounds.js';
import { brokenCountRules, brokenMutationRules, brokenVerdictRules, mainRoleOf, UNDECIDED } from './rules.js';

/** One case of one capability. `problems` is null if the case does not apply, and `reason` then tells why. */
export interface CaseResult {
  readonly capability: Capability;
  readonly name: string;
  readonly level: Exclude<Level, 'none'>;
  readonly problems: readonly string[] | null;
  readonly reason?: string;
}

export interface CertificationOptions {
  /** The time limit of calls whose vendor does not answer. The default is 250 ms. */
  readonly waitMs?: number;
  /** Gets the text of behaviour.json. Without it, the adapter is compared with the committed text. */
  readonly write?: (text: string) => void;
  /** Leaves the rest out after the first failed case. */
  readonly untilFailure?: boolean;
  /** Leaves out the cases of silver, which wait. */
  readonly bronzeOnly?: boolean;
  /** Whether the recorded verdicts after each single change of an answer are compared, which takes up to a minute. The default is true. */
  readonly withChanges?: boolean;
  /** The recordings of the folder, which are replayed. */
  readonly recordings?: readonly Recording[];
}

const WAIT_MS = 250;
/** Most trials wait. */
const AT_ONCE = 32;
const FLOOD = 100;
/** One token, and one more for calls that began before it came. */
const MOST_TOKENS = 2;

export async function certificationOf(
  vendor: Vendor,
  double: CertifiedDouble,
  personas: readonly CertifiedPersona[],
  {
    waitMs = WAIT_MS,
    write,
    untilFailure = false,
    bronzeOnly = false,
    withChanges = true,
    recordings = [],
  }: CertificationOptions = {},
): Promise<readonly CaseResult[]> {
  const output = keepOutput();
  const laboratory = await Laboratory.open(vendor, double);
  try {
    const others = furtherPersonas(personas);
    const further = operationsOf(vendor, double, others);
    const all = [...personas, ...others];
    const run = new Run(laboratory, operationsOf(vendor, double, personas, laboratory.running.pay), all, further, {
      waitMs,
      untilFailure,
      bronzeOnly,
      withChanges,
      recordings,
      recorded: write === undefined ? behaviourOf(vendor.id) : undefined,
    });
    const results = await run.all();
    write?.(textOf(run.behaviour, run.canaries()));
    const leaks = findingsOf(run.canaries(), 'the output of the process', Buffer.from(output.text()));
    const late: Readonly<Record<string, readonly string[]>> = { [CANARIES]: leaks, [OUTSIDE]: output.errors };
    return results.map((result) => ({
      ...result,
      problems: result.problems && [...result.problems, ...(late[result.name] ?? [])],
    }));
  } finally {
    output.stop();
    await laboratory.close();
  }
}

const ROUNDS = 'rounds of the person at the vendor';
const MEMORY = 'outcomes of executed calls';
const OTHER_CHECKS = 'answers about another check';
const BEHAVIOUR = 'the recorded behaviour';
const CROWD = 'different calls at once';
const OUTSIDE = 'no error outside the calls';
const CANARIES = 'no personal data and no credential in verdicts, errors, output and addresses';

/** `by`: the fault that loses the answers of a role. */
interface Lost {
  readonly by?: { readonly role: Role; readonly fault: Fault };
  readonly roles: readonly Role[];
}

class Run {
  private readonly lost = new Map<Operation, Promise<Lost>>();
  /** The undisturbed observation of each operation. */
  private readonly clean = new Map<Operation, Observation>();
  private readonly observed: { readonly operation: Operation; readonly seen: Observation }[] = [];
  private readonly lane = lanes(AT_ONCE);
  readonly behaviour: Record<string, Behaviour> = {};
  private readonly results: CaseResult[] = [];

  constructor(
    private readonly laboratory: Laboratory,
    private readonly operations: readonly Operation[],
    private readonly personas: readonly CertifiedPersona[],
    /** Operations about further applicants, whose requests are recorded. */
    private readonly further: readonly Operation[],
    private readonly options: {
      readonly waitMs: number;
      readonly untilFailure: boolean;
      readonly bronzeOnly: boolean;
      readonly withChanges: boolean;
      readonly recordings: readonly Recording[];
      /** The committed behaviour; null if the folder has none. Undefined if it is written now. */
      readonly recorded: string | null | undefined;
    },
  ) {}

  async all(): Promise<readonly CaseResult[]> {
    const { capabilities } = this.laboratory.vendor;
    const kinds = new Map<Capability, readonly Operation[]>();
    for (const capability of CAPABILITIES)
      if (capabilities[capability] !== undefined && !this.isOver())
        kinds.set(capability, await this.bronzeOf(capability));
    for (const [capability, able] of kinds)
      if (able.length > 0 && !this.isOver() && !this.options.bronzeOnly) await this.silverOf(capability, able);
    return this.results;
  }

  private isOver(): boolean {
    return this.options.untilFailure && this.results.some(({ problems }) => problems !== null && problems.length > 0);
  }

  private adderOf(capability: Capability) {
    return (level: CaseResult['level'], name: string, problems: readonly string[] | null, reason?: string) =>
      void this.results.push({ capability, level, name, problems, ...(reason !== undefined && { reason }) });
  }

  /** Returns one operation of each kind, for the further cases. */
  private async bronzeOf(capability: Capability): Promise<readonly Operation[]> {
    const operations = this.operations.filter((operation) => operation.capability === capability);
    const add = this.adderOf(capability);
    const verdicts = await this.each(operations, (operation) => this.verdictProblems(operation));
    add('bronze', 'verdicts', [...this.missing(capability, operations), ...verdicts]);
    for (const method of OPTIONAL_OPERATIONS[capability])
      if (!isDeclared(this.laboratory.vendor, capability, method))
        add('bronze', method, null, 'the vendor has not got this operation');
    const able = operations.filter((operation) => this.clean.has(operation));
    if (able.length === 0 || this.isOver()) return [];
    const errors = (this.laboratory.double.errors ?? []).filter(({ operation }) =>
      able.some(({ method }) => method === operation),
    );
    await this.documentedErrorsOf(capability, errors, able);
    // The adapter reads answers of one kind alike, so one persona of each kind meets changes and faults.
    const kindOf = ({ method, expected }: Operation): string => `${method} ${expected.kind} ${grants(expected)}`;
    const kinds = [...new Map([...able].reverse().map((one) => [kindOf(one), one])).values()];
    await this.fieldsOf(capability, able);
    this.results.push(...(await this.roundResults(able)), ...(await this.memoryResults(able)));
    add('bronze', OTHER_CHECKS, await this.each(kinds, (operation) => this.otherCheckProblems(operation)));
    if (this.isOver()) return [];
    add('bronze', BEHAVIOUR, await this.behaviourProblems(capability, able, kinds, errors));
    if (this.isOver()) return [];
    add('bronze', 'unheard-of words', await this.each(kinds, (operation) => this.mutationProblems(operation, able)));
    return kinds;
  }

  private async documentedErrorsOf(
    capability: Capability,
    errors: NonNullable<CertifiedDouble['errors']>,
    able: readonly Operation[],
  ): Promise<void> {
    const add = this.adderOf(capability);
    if (errors.length === 0) add('bronze', 'documented errors', null, 'the double lists no error of the vendor');
    else add('bronze', 'documented errors', await this.each(errors, (error) => this.errorProblems(error, able)));
  }

  private async fieldsOf(capability: Capability, able: readonly Operation[]): Promise<void> {
    const add = this.adderOf(capability);
    if (able.every(({ applicant, charge }) => applicant === undefined && charge === undefined))
      add('bronze', 'fields', null, 'the vendor knows persons by sessions');
    else if (this.laboratory.running.understood === undefined)
      add('bronze', 'fields', ['the double does not tell what it understood']);
    else add('bronze', 'fields', await this.fieldProblems(able));
    add('bronze', 'personal data', this.undeclared(able));
  }

  private async silverOf(capability: Capability, kinds: readonly Operation[]): Promise<void> {
    const able = this.operations.filter((one) => one.capability === capability && this.clean.has(one));
    const add = this.adderOf(capability);
    // The faults run together, because most trials wait. One fault after another is cheaper if the first failed case ends the certification.
    const groups = this.options.untilFailure ? FAULTS.map((fault) => [fault]) : [FAULTS];
    for (const group of groups) {
      const problems = await Promise.all(group.map((fault) => this.faultProblems(fault, kinds)));
      group.forEach(({ name }, at) => add('silver', `fault: ${name}`, problems[at] ?? []));
      if (this.isOver()) return;
    }
    if (this.laboratory.double.roles.token === undefined)
      add('silver', 'flood of calls without a token', null, 'the vendor has no access tokens');
    else add('silver', 'flood of calls without a token', await this.floodProblems(able));
    add('silver', CROWD, await this.crowdProblems(kinds));
    add('silver', CANARIES, this.leaks(capability));
    add('silver', OUTSIDE, []);
    this.results.push({ capability, level: 'gold', name: 'recorded exchanges', ...(await this.replayed(able)) });
  }

  private async roundResults(able: readonly Operation[]): Promise<readonly CaseResult[]> {
    const acting = able.filter(({ expected }) => expected.kind === 'needs-user');
    const problems = await this.each(acting, (operation) => brokenRoundRules(this.laboratory, operation));
    return acting.slice(0, 1).map(({ capability }) => ({ capability, level: 'bronze', name: ROUNDS, problems }));
  }

  private async memoryResults(able: readonly Operation[]): Promise<readonly CaseResult[]> {
    if (this.laboratory.vendor.capabilities.identity?.outcomes === 'none') return [];
    const remembered = able.filter(isRemembered);
    const problems = await this.each(remembered, (operation) =>
      this.lane(() => brokenMemoryRules(this.laboratory, operation)),
    );
    return remembered.slice(0, 1).map(({ capability }) => ({ capability, level: 'bronze', name: MEMORY, problems }));
  }

  private async otherCheckProblems(operation: Operation): Promise<readonly string[]> {
    const clean = this.clean.get(operation);
    if (clean === undefined || UNDECIDED.has(operation.expected.kind)) return [];
    const roles = rolesIn(clean);
    const lost = await this.lostRoles(operation, clean);
    const trials = [
      ...roles.map((role) => new OtherCheck(role, roles)),
      ...lost.roles.map((role) => new OtherCheck(role, [...roles, ...lost.roles], lost.by)),
    ];
    return this.each(trials, async (trial) => trial.problems(await this.observe(operation, { faults: trial.faults })));
  }

  /** The roles of the queries with which the adapter settles an operation whose answer is lost. */
  private lostRoles(operation: Operation, clean: Observation): Promise<Lost> {
    const known = this.lost.get(operation) ?? this.askedAfterLoss(operation, clean);
    this.lost.set(operation, known);
    return known;
  }

  private async askedAfterLoss(operation: Operation, clean: Observation): Promise<Lost> {
    const [role, fault] = [mainRoleOf(clean), lostAnswerOf(operation)];
    if (role === null || fault === null) return { roles: [] };
    const roles = rolesIn(await this.observe(operation, { faults: always(role, fault) }));
    return { by: { role, fault }, roles: roles.filter((one) => !rolesIn(clean).includes(one)) };
  }

  /** The personas that the declared capabilities need. */
  private missing(capability: Capability, operations: readonly Operation[]): readonly string[] {
    const has = (method: string, facts: object): boolean =>
      operations.some((operation) => operation.method === method && fits(facts, operation.expected));
    const { identity } = this.laboratory.vendor.capabilities;
    const needed: { readonly [Name in Capability]: readonly (readonly [problem: string, met: boolean])[] } = {
      identity: [
        ['no persona is confirmed', has('register', { kind: 'confirmed' })],
        ['no persona is refused', has('register', { kind: 'refused' })],
        ...(identity?.stepUp ?? []).map((method): [string, boolean] => [
          `no persona is challenged with ${method}`,
          has(method === 'otp' ? 'verifyOtp' : 'verifyKba', { kind: 'confirmed' }),
        ]),
      ],
      credit: [
        ['no persona has a report', has('pullReport', { kind: 'report' })],
        ['no persona is refused a report', has('pullReport', { kind: 'refused' })],
      ],
      income: [
        ['no persona has an income', has('outcomeOf', { kind: 'completed' })],
        ['no inquiry of a persona fails', has('outcomeOf', { kind: 'failed' })],
      ],
      payment: [
        ['no consumer pays an intent', has('retrieveIntent', { intent: { status: 'succeeded' } })],
        ['no consumer pays a checkout', has('retrieveCheckout', { session: { status: 'complete' } })],
        ['no payment is refunded', has('refundIntent', { kind: 'refunded' })],
        ['no refund is refused', has('refundIntent', { kind: 'refused' })],
      ],
    };
    const { operations: declared = {}, ...more } = this.laboratory.vendor.capabilities[capability] ?? {};
    const untested = Object.keys(declared)
      .filter((method) => !(method === 'outcomeOf' && 'outcomes' in more && more.outcomes === 'none'))
      .filter((method) => operations.every((operation) => operation.method !== method))
      .map((method) => `vendor.ts declares ${method}, and no persona tests it`);
    return [...needed[capability].filter(([, met]) => !met).map(([problem]) => problem), ...untested];
  }

  private async verdictProblems(operation: Operation): Promise<readonly string[]> {
    const seen = await this.observe(operation);
    if (seen.thrown !== null) return ['the adapter throws'];
    if (!fits(operation.expected, seen.verdict)) return [`the verdict is ${seen.verdict?.kind ?? 'missing'}`];
    this.clean.set(operation, seen);
    const strange = seen.requests.filter(({ role }) => role === null).map(({ method }) => method);
    return strange.length === 0 ? [] : [`${strange.join(', ')} requests have no declared role`];
  }

  private async errorProblems(
    error: NonNullable<CertifiedDouble['errors']>[number],
    able: readonly Operation[],
  ): Promise<readonly string[]> {
    const operation = able.find(({ method }) => method === error.operation);
    const role = operation && this.mainRole(operation);
    if (operation === undefined || !role) return [`no persona has the operation ${error.operation}`];
    const answer = { status: error.status, headers: JSON_TYPE, body: JSON.stringify(error.body) };
    const fault: Fault = { name: 'a documented error', apply: (exchange) => exchange.answer(answer) };
    const { verdict } = await this.observe(operation, { faults: always(role, fault) });
    return error.verdict === undefined || fits(error.verdict, verdict)
      ? []
      : [`${error.operation}: ${answer.body} becomes ${verdict?.kind ?? 'no verdict'}, not ${error.verdict.kind}`];
  }

  private async mutationProblems(operation: Operation, able: readonly Operation[]): Promise<readonly string[]> {
    const clean = this.clean.get(operation);
    if (clean === undefined) return [];
    const isGrant = grants(operation.expected);
    const alike = able.filter(({ method }) => method === operation.method);
    const cleanOf = (granting: boolean): readonly Observation[] =>
      alike.filter((one) => grants(one.expected) === granting).flatMap((one) => this.clean.get(one) ?? []);
    const deciding = isGrant ? decidingPaths(cleanOf(true), cleanOf(false)) : [];
    const decides = (path: Path): boolean => deciding.some((one) => JSON.stringify(one) === JSON.stringify(path));
    const trials = changesOf(clean)
      .filter(({ path }) => operation.capability === 'identity' || !isGrant || decides(path))
      .map(({ role, path }) => ({ role, fault: wordChanged(path), mayGrant: isGrant && !decides(path) }));
    const last = clean.requests.at(-1)?.role;
    if (isGrant && last)
      for (const status of [404, 500]) trials.push({ role: last, fault: statusChanged(status), mayGrant: false });
    return this.each(trials, async ({ role, fault, mayGrant }) => {
      const seen = await this.observe(operation, { faults: always(role, fault) });
      return brokenMutationRules(seen, mayGrant).map((problem) => `${role}, ${fault.name}: ${problem}`);
    });
  }

  private async fieldProblems(able: readonly Operation[]): Promise<readonly string[]> {
    const { understood } = this.laboratory.running;
    const telling = able.filter(({ applicant, charge }) => applicant !== undefined || charge !== undefined);
    return this.each(telling, async (operation) => {
      const told = understood?.(this.clean.get(operation)?.call.attemptId ?? '');
      if (!told) return ['the vendor knows no request with the key of the attempt'];
      const { applicant, charge } = operation;
      const sent: Readonly<Record<string, unknown>> = { ...applicant, ...charge };
      const wrong = Object.entries(told)
        .filter(([name]) => name in (charge ?? PERSON))
        .filter(([name, value]) => !fits(value, sent[name]));
      const needed = charge === undefined ? NEEDED_FIELDS : Object.keys(charge);
      const lost = needed.filter((name) => told[name] === undefined);
      return [
        ...wrong.map(([name]) => `the vendor understands another ${name} than was sent`),
        ...lost.map((name) => `the vendor does not get the ${name}`),
      ];
    });
  }

  /** The differences from behaviour.json. */
  private async behaviourProblems(
    capability: Capability,
    able: readonly Operation[],
    kinds: readonly Operation[],
    errors: NonNullable<CertifiedDouble['errors']>,
  ): Promise<readonly string[]> {
    const personal = [...this.canaries()].map(([, value]) => value);
    const isPersonal = (text: string): boolean => text === PERSON.termsAcceptedAt || personal.includes(text);
    const recorder = new Recorder(this.laboratory, this.lane, isPersonal);
    const further = this.further.filter((one) => one.capability === capability && one.applicant !== undefined);
    const told: Record<string, Json> = {};
    this.behaviour[capability] = told;
    const { withChanges } = this.options;
    const all = [...able, ...further];
    for await (const [name, part] of recorder.parts({ operations: all, kinds, errors, withChanges })) {
      told[name] = part;
      if (this.options.untilFailure && this.differences([capability, name]).length > 0) break;
    }
    if (withChanges) return this.differences([capability]);
    return Object.keys(told).flatMap((name) => this.differences([capability, name]));
  }

  private differences(path: readonly string[]): readonly string[] {
    const { recorded } = this.options;
    return recorded === undefined ? [] : differencesOf(textOf(this.behaviour, this.canaries()), recorded, path);
  }

  private async faultProblems(fault: Fault, able: readonly Operation[]): Promise<readonly string[]> {
    const trials = await this.flat(able, async (operation) => {
      const clean = this.clean.get(operation);
      if (clean === undefined) return [];
      // The token comes before the vendor knows the person, so one persona of each method meets the faults of its endpoint.
      const isFirst = able.find(({ method }) => method === operation.method) === operation;
      const single = rolesIn(clean)
        .filter((role) => role !== 'token' || isFirst)
        .map((role) => ({ operation, clean, role, faults: always(role, fault) }));
      // The request for the outcome of a lost answer meets the fault as well.
      const { by, roles } = await this.lostRoles(operation, clean);
      const settling = roles.map((role) => {
        return { operation, clean, role, faults: { ...(by && always(by.role, by.fault)), ...always(role, fault) } };
      });
      return [...single, ...settling];
    });
    return this.each(trials, async ({ operation, clean, role, faults }) => {
      const next = new NextCall(able);
      // Only an answer that grants something can be seen in the next call.
      const then = grants(operation.expected) ? { then: next.make } : {};
      const seen = await this.observeFault(operation, fault, { faults, ...then });
      const trial = { operation, clean, role, fault, seen };
      return [...brokenVerdictRules(trial), ...brokenCountRules(trial), ...next.problems].map(
        (problem) => `${operation.name}, ${role}: ${problem}`,
      );
    });
  }

  /** An operation may need more time than a short limit before it meets the fault. */
  private async observeFault(operation: Operation, fault: Fault, circumstances: Circumstances): Promise<Observation> {
    if (!fault.waits) return this.observe(operation, circumstances);
    const short = await this.observe(operation, { ...circumstances, limitMs: this.options.waitMs });
    if (short.requests.some(({ harmed }) => harmed)) return short;
    return this.observe(operation, { ...circumstances, limitMs: 8 * this.options.waitMs });
  }

  private async floodProblems(able: readonly Operation[]): Promise<readonly string[]> {
    const [operation] = able.filter(({ expected, method }) => method === 'register' || grants(expected));
    if (operation === undefined) return ['no operation can be repeated'];
    const act = await this.laboratory.prepared(operation);
    return this.laboratory.withAdapters(4 * UNDISTURBED_MS, async (adapters, proxy) => {
      const tokens = (): number => proxy.requests.filter(({ role }) => role === 'token').length;
      const flood = async (when: string): Promise<readonly string[]> => {
        const before = tokens();
        const calls = Array.from({ length: FLOOD }, () => act(adapters, newCall()).catch(() => null));
        const verdicts = await within(5 * UNDISTURBED_MS, Promise.all(calls), () => []);
        const right = verdicts.filter((verdict) => fits(operation.expected, verdict)).length;
        return [
          ...(right < FLOOD ? [`${when}: ${FLOOD - right} of ${FLOOD} calls fail`] : []),
          ...(tokens() - before > MOST_TOKENS ? [`${when}: ${tokens() - before} tokens for ${FLOOD} calls`] : []),
        ];
      };
      const first = await flood('without a token');
      proxy.revoke();
      return [...first, ...(await flood('with a revoked token'))];
    });
  }

  /** Two calls of each kind at once, with one adapter. Each call sends a request of its own and gets its own verdict. */
  private async crowdProblems(kinds: readonly Operation[]): Promise<readonly string[]> {
    const crowd = await Promise.all(
      [...kinds, ...kinds].map(async (operation) => ({ operation, act: await this.laboratory.prepared(operation) })),
    );
    return this.laboratory.withAdapters(4 * UNDISTURBED_MS, async (adapters, proxy) => {
      const calls = crowd.map(async ({ operation, act }) => {
        const verdict = await act(adapters, newCall()).catch(() => null);
        return fits(operation.expected, verdict)
          ? []
          : [`${operation.name}: the verdict is ${verdict?.kind ?? 'missing'} beside other calls`];
      });
      const problems = await within(5 * UNDISTURBED_MS, Promise.all(calls), () => [['the calls do not end']]);
      const wanted = crowd.filter(({ operation: { semantics } }) => semantics !== 'query');
      const roles = [...new Set(wanted.map(({ operation }) => this.mainRole(operation)))];
      const sent = proxy.requests.filter(({ role, method }) => roles.includes(role) && method !== 'GET').length;
      return [...problems.flat(), ...(sent < wanted.length ? [`${wanted.length} calls send ${sent} requests`] : [])];
    });
  }

  /** The places of the personas' data that the vendor does not declare. */
  private undeclared(able: readonly Operation[]): readonly string[] {
    const { personal = [] } = this.laboratory.vendor;
    const canaries = [...personalOf(this.personas)];
    const places = able.flatMap((operation) =>
      (this.clean.get(operation)?.requests ?? []).flatMap((request) =>
        textsOf(request).flatMap(({ pointer, value }) =>
          isAt(personal, pointer)
            ? []
            : findingsOf(canaries, `${pointer}, which \`personal\` lacks`, Buffer.from(value)),
        ),
      ),
    );
    return [...new Set(places)];
  }

  private async replayed(operations: readonly Operation[]): Promise<Pick<CaseResult, 'problems' | 'reason'>> {
    const isRecorded = ({ name }: Operation): boolean =>
      this.options.recordings.some(({ operation }) => operation === name);
    const wanted = recordedFirst(operations).filter(isRecorded);
    if (wanted.length === 0) return { problems: null, reason: 'no exchange is recorded' };
    return { problems: await this.each(wanted, (operation) => this.replayProblems(operation)) };
  }

  private replayProblems(operation: Operation): Promise<readonly string[]> {
    const recording = this.options.recordings.find((one) => one.operation === operation.name);
    const { vendor, double, running } = this.laboratory;
    if (recording === undefined) return Promise.resolve([]);
    // The recording shows what the consumer did.
    const [same = operation] = operationsOf(vendor, double, this.personas).filter(
      ({ name }) => name === operation.name,
    );
    const canaries = canariesOf(this.laboratory, this.personas, []);
    return this.lane(() => replayProblems({ vendor, double, settings: running.settings, canaries }, same, recording));
  }

  canaries(): Canaries {
    const requests = [...this.clean.values()].flatMap((seen) => seen.requests);
    return canariesOf(this.laboratory, this.personas, requests);
  }

  private leaks(capability: Capability): readonly string[] {
    const canaries = [...this.canaries()];
    const own = this.observed.filter(({ operation }) => operation.capability === capability);
    const found = own.flatMap(({ operation, seen: { verdict, thrown, requests } }) => {
      // A reply is the vendor's own text. A report and questions are about the person.
      const { reply: _reply, report: _report, kba: _kba, ...rest } = verdict ?? { kind: '' };
      return [
        ...findingsOf(canaries, `the verdict of ${operation.method}`, Buffer.from(JSON.stringify(rest))),
        ...findingsOf(canaries, `an error of ${operation.method}`, Buffer.from(thrown ?? '')),
        ...requests.flatMap(({ url }) => findingsOf(canaries, `an address of ${operation.method}`, Buffer.from(url))),
      ];
    });
    return [...new Set(found)];
  }

  private mainRole(operation: Operation): Role | null {
    const clean = this.clean.get(operation);
    return clean === undefined ? null : mainRoleOf(clean);
  }

  private async observe(operation: Operation, circumstances?: Circumstances): Promise<Observation> {
    const seen = await this.lane(() => this.laboratory.observe(operation, circumstances));
    this.observed.push({ operation, seen });
    return seen;
  }

  private async flat<Item, Made>(items: readonly Item[], make: (item: Item) => Promise<readonly Made[]>) {
    return (await Promise.all(items.map(make))).flat();
  }

  /** Runs many trials at a time. The name of an operation precedes its problems. */
  private async each<Item>(
    items: readonly Item[],
    work: (item: Item) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    const told = await Promise.all(
      items.map((item) => {
        const label = isOperation(item) ? item.name : undefined;
        const problems = work(item).catch((error: unknown) => [failure(error)]);
        return problems.then((all) => all.map((problem) => (label === undefined ? problem : `${label}: ${problem}`)));
      }),
    );
    return told.flat();
  }
}

/** A call of the same adapter after a fault. It must get its own answer, even if an earlier answer came twice or late. */
class NextCall {
  readonly problems: string[] = [];
  private readonly other: Operation | undefined;

  constructor(able: readonly Operation[]) {
    this.other = able.find(({ expected }) => !grants(expected));
  }

  readonly make: NonNullable<Circumstances['then']> = async (adapters, proxy) => {
    proxy.faults = {};
    if (this.other === undefined) return;
    const act = await this.other.prepare(adapters).catch(() => null);
    const verdict = await act?.(adapters, newCall()).catch(() => null);
    if (verdict && grants(verdict)) this.problems.push('the next call gets the answer of this call');
  };
}

/** The level that all results together give. A case that does not apply lowers no level, except for gold. */
export function certificateFrom(results: readonly CaseResult[], smokeTested?: string): Certificate {
  const cases: Record<string, Record<string, Result>> = {};
  for (const { capability, name, problems, reason } of results) {
    const result = problems === null ? `skipped: ${reason ?? ''}` : problems.length === 0 ? 'pass' : 'fail';
    cases[capability] = { ...cases[capability], [name]: result };
  }
  const holds = (wanted: Level): boolean => {
    const own = results.filter(({ level }) => level === wanted);
    const applied = own.filter(({ problems }) => problems !== null);
    const complete = wanted === 'gold' ? applied.length === own.length : true;
    return complete && applied.length > 0 && applied.every(({ problems }) => problems?.length === 0);
  };
  const broken = LEVELS.slice(1).findIndex((level) => !holds(level));
  const level = LEVELS[broken < 0 ? LEVELS.length - 1 : broken] ?? 'none';
  return { level, cases, ...(smokeTested !== undefined && { smokeTested }) };
}

const RESET_AFTER = FAULTS.find(({ name }) => name === 'reset after the request is executed') as Fault;
const FAILED_AFTER = statusChanged(500);
const NEEDED_FIELDS = ['firstName', 'lastName', 'dateOfBirth', 'ssn'] as const;

/**
 * The fault after which the adapter asks for the outcome; null if it never asks. The adapter of a processor repeats a lost request, and asks when a
 * creation fails.
 */
function lostAnswerOf({ capability, method }: Operation): Fault | null {
  if (capability !== 'payment') return RESET_AFTER;
  return method.startsWith('create') ? FAILED_AFTER : null;
}

function isOperation(item: unknown): item is Operation {
  return typeof item === 'object' && item !== null && 'prepare' in item;
}

function failure(error: unknown): string {
  return error instanceof NotPrepared ? error.message : `the certification fails: ${String(error)}`;
}

/** Runs at most `count` works at a time. */
function lanes(count: number): <Value>(work: () => Promise<Value>) => Promise<Value> {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
