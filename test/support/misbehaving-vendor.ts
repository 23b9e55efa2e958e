// For the tests of a vendor's HTTP adapter. Makes misbehaving vendors and adapters that call them, and closes all of
// them after the test.
import { afterEach } from '@jest/globals';
import type { IdvOptions } from '../../src/vendors/idv/dialect.js';
import { type MisbehavingServer, type Respond, misbehavingServer } from './misbehaving-server.js';

export interface MisbehavingVendors<Adapter> {
  misbehaving(respond: Respond): Promise<MisbehavingServer>;
  adapter(baseUrl: string, timeoutMs?: number): Adapter;
  /** Functions that are called after the test, the last one first. */
  closeLater(close: () => unknown): void;
}

/** Test files call this function at the top. */
export function misbehavingVendors<Adapter extends { close(): Promise<void> }>(
  Adapter: new (options: IdvOptions) => Adapter,
): MisbehavingVendors<Adapter> {
  const closers: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  return {
    closeLater: (close) => void closers.push(close),
    misbehaving: async (respond) => {
      const server = await misbehavingServer(respond);
      closers.push(() => server.close());
      return server;
    },
    adapter: (baseUrl, timeoutMs = 5_000) => {
      const adapter = new Adapter({ baseUrl, credential: 'test-credential', timeoutMs });
      closers.push(() => adapter.close());
      return adapter;
    },
  };
}
