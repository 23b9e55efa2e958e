// Bugs that a certification must find, each as a small change of the correct vendor acme or of the client under it.
export interface PlantedBug {
  readonly name: string;
  /** Below `src`. */
  readonly file: string;
  readonly change: readonly [from: string, to: string];
  /** A bug that none of the authors of the certification had in mind at first. */
  readonly unseen?: true;
}

const IDENTITY = 'vendors/acme/identity.ts';
const IDENTITY_WIRE = 'vendors/acme/identity-wire.ts';
const PERSON_WIRE = 'vendors/acme/person-wire.ts';
const CLIENT = 'vendor-kit/http/client.ts';
const TRANSPORT = 'vendor-kit/http/transport.ts';
const AUTH = 'vendor-kit/http/auth.ts';
const ANSWER = 'vendor-kit/http/answer.ts';

const REGISTER = 'override register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {';
/** Registers with `then` after the first verdict. */
const registerAndThen = (then: string): readonly [string, string] => [
  REGISTER,
  `override async register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    const verdict = await this.registerOnce(call, applicant);
    ${then}
    return verdict;
  }
  registerOnce(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {`,
];
const SENT_ONCE = "const known = verdictOf(await this.exchange(request), read);\n    return known === 'ambiguous'";

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'the body has no time limit',
    file: TRANSPORT,
    change: [
      'return within(limit, this.request(request, limit), () =>',
      'return within(4_000_000, this.request(request, new AbortController().signal), () =>',
    ],
  },
  {
    name: 'a request is sent again after a reset',
    file: CLIENT,
    change: [
      SENT_ONCE,
      `let known = verdictOf(await this.exchange(request), read);\n    if (known === 'ambiguous') known = verdictOf(await this.exchange(request), read);\n    return known === 'ambiguous'`,
    ],
  },
  {
    name: 'a request is sent again with a fresh key',
    file: IDENTITY,
    change: registerAndThen(
      "if (verdict.kind === 'timed-out') return this.registerOnce({ ...call, attemptId: crypto.randomUUID() }, applicant);",
    ),
  },
  {
    name: 'an error quotes the SSN',
    file: IDENTITY,
    change: registerAndThen(
      "if (verdict.kind === 'unintelligible') throw new Error(`no verdict on ${applicant.ssn}`);",
    ),
  },
  {
    name: 'the SSN is written to the standard error',
    file: IDENTITY,
    change: registerAndThen("if (verdict.kind === 'timed-out') process.stderr.write(`late: ${applicant.ssn}\\n`);"),
  },
  {
    name: 'the session contains the SSN',
    file: IDENTITY,
    change: registerAndThen(
      "if (verdict.kind === 'confirmed') return { ...verdict, vendorSession: Buffer.from(JSON.stringify({ session: verdict.vendorSession, applicant })).toString('base64') };",
    ),
  },
  { name: 'each call gets a token of its own', file: AUTH, change: ['asked ??= limited', 'asked = limited'] },
  {
    name: '202 is taken for the verdict',
    file: IDENTITY_WIRE,
    change: [
      "return said && { kind: 'accepted', path: verificationPath(said.id), firstLookAfter: retryAfterSeconds };",
      "return said && { kind: 'confirmed', vendorSession: sessionText(said.id) };",
    ],
  },
  {
    name: 'a review is taken for confirmed',
    file: IDENTITY_WIRE,
    change: [
      "case 'manual_review':\n",
      "case 'manual_review':\n      return { kind: 'confirmed', vendorSession: sessionText(said.id) };\n",
    ],
  },
  {
    name: 'an answer is read without a size limit',
    file: TRANSPORT,
    change: ['maxResponseSize: maxAnswerBytes', 'maxResponseSize: -1'],
  },
  {
    name: '429 is ignored when a request is sent',
    file: CLIENT,
    change: [
      SENT_ONCE,
      `let sent = await this.exchange(request);\n    if (sent.end === 'answered' && sent.answer.status === 429) sent = await this.exchange(request);\n    const known = verdictOf(sent, read);\n    return known === 'ambiguous'`,
    ],
  },
  {
    name: '429 is ignored when a result is polled',
    file: CLIENT,
    change: ['seconds = statedPause(exchange, poll) ?? ', 'seconds = 0.05; void '],
  },
  {
    name: 'redirects are followed',
    file: TRANSPORT,
    change: [
      'const retryAfterSeconds = secondsOf(',
      'if (statusCode === 302 && headers.location) { await body.dump(); return await this.request({ ...request, path: headers.location }, signal); }\n      const retryAfterSeconds = secondsOf(',
    ],
  },
  {
    name: 'the token is not renewed after a 401',
    file: CLIENT,
    change: ['!refused || renewal.isUsed', '!refused || !renewal.isUsed'],
  },
  {
    name: 'the idempotency key is not the attempt',
    file: CLIENT,
    change: ['[idempotencyHeader]: call.attemptId', '[idempotencyHeader]: crypto.randomUUID()'],
  },
  {
    name: 'an unheard-of state is taken for approved',
    file: IDENTITY_WIRE,
    change: [
      "return said && { kind: 'settled', verdict: verdictOf(said) };",
      "if (said === null && status === 200 && !isProcessing({ status, body, text: '' })) return { kind: 'settled', verdict: { kind: 'confirmed', vendorSession: sessionText(body?.id) } };\n  return said && { kind: 'settled', verdict: verdictOf(said) };",
    ],
  },
  { name: 'day and month of the birth date are exchanged', file: PERSON_WIRE, change: ['$3-$1-$2', '$3-$2-$1'] },
  {
    name: 'the client secret is in the address of the token request',
    file: AUTH,
    change: [
      'tokenRequest(pathname + search, options)',
      'tokenRequest(`${pathname}?secret=${secretOf(options.clientSecret)}`, options)',
    ],
    unseen: true,
  },
  {
    name: 'a lost answer is told as not executed',
    file: CLIENT,
    change: ["(await settle?.()) ?? { kind: 'timed-out' }", "{ kind: 'unavailable' }"],
    unseen: true,
  },
  {
    name: 'the status of an answer is ignored',
    file: IDENTITY,
    change: [
      'fromAnswer: readAnswer,',
      "fromAnswer: (answer) => (answer.body?.state === 'approved' ? { kind: 'confirmed' } : readAnswer(answer)),",
    ],
    unseen: true,
  },
  {
    name: 'the last two digits of the phone number are exchanged',
    file: PERSON_WIRE,
    change: ["phoneNumber?.replace(/^(\\d{10})$/, '+1$1')", "phoneNumber?.replace(/^(\\d{8})(\\d)(\\d)$/, '+1$1$3$2')"],
    unseen: true,
  },
  {
    name: 'the pause that a busy vendor demands is not told',
    file: ANSWER,
    change: ['return status === 429 || status === 503 ? retryAfterSeconds : undefined;', 'return undefined;'],
    unseen: true,
  },
  {
    name: 'a session that the vendor refuses keeps its access token in an error',
    file: CLIENT,
    change: [
      'const refused = exchange.end',
      "if (exchange.end === 'answered' && exchange.answer.status === 500) throw new Error(JSON.stringify(headers));\n      const refused = exchange.end",
    ],
    unseen: true,
  },
  {
    name: 'the adapter remembers the last verification for all calls',
    file: IDENTITY,
    change: [
      "return accepted.kind === 'accepted' ? verdictIn(await look(acme, accepted)) : accepted;",
      "const of = this as unknown as { last: Accepted };\n      if (accepted.kind === 'accepted') of.last = accepted;\n      await new Promise((resolve) => setTimeout(resolve, 20));\n      return accepted.kind === 'accepted' ? verdictIn(await look(acme, of.last)) : accepted;",
    ],
    unseen: true,
  },
  {
    name: 'the SSN is sent as a number would be, without zeros at its start',
    file: PERSON_WIRE,
    change: ['ssn: person.ssn,', 'ssn: person.ssn && String(Number(person.ssn)),'],
    unseen: true,
  },
  {
    name: 'the verdict on a person is taken from an earlier call about the person',
    file: IDENTITY,
    change: [
      REGISTER,
      `private readonly earlier = new Map<string, Promise<RegistrationVerdict>>();
  override register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    const person = JSON.stringify(applicant);
    if (!this.earlier.has(person)) this.earlier.set(person, this.registerOnce(call, applicant));
    return this.earlier.get(person) as Promise<RegistrationVerdict>;
  }
  registerOnce(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {`,
    ],
    unseen: true,
  },
  {
    name: 'a request that nothing waits for fails',
    file: IDENTITY,
    change: registerAndThen(
      "if (verdict.kind === 'unintelligible') void this.client.within(call, () => Promise.reject(new Error('no statistics')));",
    ),
    unseen: true,
  },
  {
    name: 'letters outside ASCII are replaced',
    file: PERSON_WIRE,
    change: ['given_name: person.firstName,', "given_name: person.firstName?.normalize('NFD').replace(/[^ -~]/g, ''),"],
    unseen: true,
  },
];
