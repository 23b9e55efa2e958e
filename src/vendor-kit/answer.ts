// A vendor's answer, as far as it reads alike for all of them: the error body, and who said it.

/** A complete answer; `body` is null when it was not JSON. */
export interface VendorAnswer {
  readonly status: number;
  readonly body: unknown;
}

export function errorOf({ body }: VendorAnswer): Record<string, unknown> {
  return isRecord(body) && isRecord(body.error) ? body.error : {};
}

/** The upstream's number for what went wrong, null when the answer names none. */
export function upstreamCode(answer: VendorAnswer): number | null {
  const { code } = errorOf(answer);
  return typeof code === 'number' ? code : null;
}

/** Our credential refused, throttled or down: said before anything was executed. */
export function turnedAway(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status === 503;
}

/** Said by a gateway that lost sight of the vendor: it is not known whether the call was executed. */
export function fromGateway(answer: VendorAnswer): boolean {
  return (answer.status === 502 || answer.status === 504) && upstreamCode(answer) === null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
