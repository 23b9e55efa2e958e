import type { Variables } from './variables.js';

/** The location of the log. This class is also the injection token. */
export abstract class EventStoreSettings {
  /**
   * `maxBytes`: the largest size of the embedded log's file. `testTraffic`: the fraction of this size that test traffic may fill.
   * `uncompressedEvents`: the number of newest events that are stored one by one.
   */
  abstract readonly place:
    | {
        readonly kind: 'embedded';
        readonly maxBytes: number;
        readonly testTraffic: number;
        readonly uncompressedEvents: number;
      }
    | { readonly kind: 'eventstoredb'; readonly url: string };
}

const GIB = 2 ** 30;
/** The limits of the largest size. A smaller file is full within hours, and a machine cannot address a larger file. */
export const FILE_BYTES = { min: 64 * 2 ** 20, max: 16_384 * GIB };

export function readEventStore(env: Variables): EventStoreSettings {
  const kind = env.oneOf('EVENT_STORE', ['embedded', 'eventstoredb'], 'embedded');
  if (kind === 'eventstoredb') {
    const url = env.text('EVENTSTORE_URL') ?? '';
    if (!/^esdb(\+discover)?:\/\//.test(url))
      env.fault('EVENTSTORE_URL', 'must be an esdb:// connection string when EVENT_STORE is eventstoredb');
    if (isPlaintext(url)) for (const host of hostsOf(url)) env.refusePlaintext('EVENTSTORE_URL', host);
    return { place: { kind, url } };
  }
  return {
    place: {
      kind,
      maxBytes: env.number('EVENT_LOG_MAX_BYTES', 16 * GIB, FILE_BYTES),
      testTraffic: env.number('TEST_LOG_SHARE', 0.5, { min: 0.001, max: 1, whole: false }),
      uncompressedEvents: env.number('EVENT_LOG_UNCOMPRESSED', 65_536, { min: 0, max: 1_000_000_000 }),
    },
  };
}

/** Whether the connection string turns TLS off, in one of the spellings that the client accepts. */
function isPlaintext(url: string): boolean {
  const [, options = ''] = url.split('?');
  return options.split('&').some((option) => /^\s*t[_-]?l[_-]?s\s*=\s*false\s*$/i.test(option));
}

function hostsOf(url: string): string[] {
  const [, hosts = ''] = /^esdb(?:\+discover)?:\/\/(?:[^@/?]*@)?([^/?]*)/.exec(url) ?? [];
  return hosts.split(',').map((host) => host.trim().replace(/:\d+$/, ''));
}
