// The interface of a vendor's test double in the sandbox, and the form of its errors.
import type { FastifyInstance, FastifyReply } from 'fastify';

/** A person whose data a double has. */
export interface SandboxPerson {
  readonly persona: string;
  /** The number of the invented person's data. */
  readonly file: number;
}

/** One vendor: its routes, and its cleanup at the end. */
export interface SandboxPart {
  mount(server: FastifyInstance): void;
  close(): void;
  /** The person of the vendor's token, for the other doubles; null for an unknown token. */
  personOf?(token: string): SandboxPerson | null;
}

/** The surroundings of a double. */
export interface SandboxContext<Name extends string = string> {
  /** The folder of the journals. */
  readonly folder: string;
  /** The values of the declared variables. */
  readonly variables: Readonly<Record<Name, string>>;
  /** The milliseconds that a slow call waits. */
  readonly slowMs: number;
  /** The address for the vendor's notices to the service. */
  readonly noticesUrl: string;
  /** The person of a token of any double; null for an unknown token. */
  readonly personOf: (token: string) => SandboxPerson | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A double, which the file `double/part.ts` of the vendor's folder exports as `double`. The sandbox finds the double there. */
export interface VendorDouble<Name extends string = string> {
  /** The environment variables that the double reads, each with its default. An empty variable counts as absent. */
  readonly variables: Readonly<Record<Name, string>>;
  /** The path of the double's routes, which see a server of their own below it. The default is `/vendors/<id>`. */
  readonly rootPath?: '';
  open(context: SandboxContext<Name>): Promise<SandboxPart>;
}

export function defineDouble<const Name extends string>(double: VendorDouble<Name>): VendorDouble {
  return double;
}

/** The body of every error. `code`: a number of the vendor's list, or a word for errors of the HTTP interface. Messages never quote the request. */
export interface ErrorBody {
  readonly error: {
    readonly code: number | string;
    readonly message: string;
    readonly field?: string;
  };
}

export function sendError(reply: FastifyReply, status: number, code: number | string, message: string): FastifyReply {
  return reply.code(status).send({ error: { code, message } } satisfies ErrorBody);
}
