// Calls the direct API with a key, as an integrator's server does.
import { until } from './eventually.js';
import { aPerson, type Credentials, type Person, type Reply, type Service } from './service.js';

export type PartyKind = 'renters' | 'agents' | 'organizations';

/** A registration that is accepted. Each call makes a different person. */
export function aRegistration(fields: Person = {}): Person {
  const { termsAcceptedAt: _, userType: __, dateOfBirth: dob, ...person } = aPerson();
  return { ...person, dob, phoneNumber: '4155550134', ipAddress: '203.0.113.7', ...fields };
}

export class DirectCaller {
  constructor(
    private readonly service: Service,
    readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** Uses the key of a demo account. */
  static async of(service: Service, account: keyof Credentials['accounts'] = 'nopay'): Promise<DirectCaller> {
    const { accounts } = await service.credentials();
    return new DirectCaller(service, { 'x-api-key': accounts[account].apiKey });
  }

  /** `path` is the part of the address after `/api`. */
  send(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.service.request(method, `/api${path}`, { headers: { ...this.headers, ...headers }, body });
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.send('GET', `/idv${path}`, undefined, headers);
  }

  post(path: string, body: unknown = {}, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.send('POST', `/idv${path}`, body, headers);
  }

  put(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.send('PUT', `/idv${path}`, body, headers);
  }

  delete(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.send('DELETE', `/idv${path}`, undefined, headers);
  }

  /** As `register`, for a test that needs the party. On a busy machine a verdict can be late. Repeated, the registration is not billed again. */
  async registered(kind: PartyKind, id: string, person: Person = {}): Promise<Reply> {
    const [path, body] = [`/${kind}/${encodeURIComponent(id)}`, aRegistration(person)];
    const isLate = ({ status, body: { errors } }: Reply): boolean =>
      status === 504 || (status === 409 && errors[0]?.errorCode === 121);
    let reply = await this.post(path, body);
    await until('the verdict is known', async () => {
      if (isLate(reply)) reply = await this.post(path, body);
      return !isLate(reply);
    });
    return reply;
  }

  register(kind: PartyKind, id: string, person: Person = {}): Promise<Reply> {
    return this.post(`/${kind}/${encodeURIComponent(id)}`, aRegistration(person));
  }
}
