import type { Clock } from '../../../kernel/clock.js';
import { isId } from '../../../kernel/ids.js';
import { type EndpointState, type SigningKey, validKeys, webhookEndpoint } from '../domain/endpoint.js';
import { publicKeyText } from '../domain/signature.js';

/** Reads the present state of an account's endpoint from the log (see platform/aggregates/grouped-stream.ts). */
interface Endpoints {
  load(folded: typeof webhookEndpoint, accountId: string): Promise<{ readonly state: EndpointState }>;
}

/** The public keys that verify an account's webhooks. */
export class WebhookKeyReader {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly clock: Clock,
  ) {}

  /** The newest first. An unknown account has none. `publicKey` has the form that receivers know. */
  async of(accountId: string): Promise<readonly SigningKey[]> {
    if (!isId(accountId)) return [];
    const { state } = await this.endpoints.load(webhookEndpoint, accountId);
    return validKeys(state, this.clock.now()).map((key) => ({ ...key, publicKey: publicKeyText(key.publicKey) }));
  }
}
