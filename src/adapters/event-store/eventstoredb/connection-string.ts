// Refuses connection strings that the client would accept and misread. Called once, before connecting.

/** The groups of the pattern: `+discover`, credentials, hosts, options. */
const SHAPE = /^esdb(\+discover)?:\/\/(?:([^@/?]*)@)?([^/?@]+)\/?(?:\?(.*))?$/u;

/** Every option of the client, in the spelling with which the client compares it. */
const KNOWN_OPTIONS: readonly string[] = (
  'connectionname defaultdeadline discoveryinterval gossiptimeout keepaliveinterval keepalivetimeout maxdiscoverattempts ' +
  'nodepreference throwonappendfailure tls tlscafile tlsverifycert usercertfile userkeyfile'
).split(' ');

/** The defaults for options that the string omits: two are in milliseconds, one is in seconds. */
const LIMITS = { keepaliveinterval: '2000', keepalivetimeout: '2000', gossiptimeout: '2' };

/** The longest plausible gossip time limit. The option is in seconds, and a number meant as milliseconds would hang the discovery for hours. */
const MAX_GOSSIP_SECONDS = 60;

/**
 * Throws for every string that would fail later without an error. The error never repeats the text, which contains a password. The client itself
 * would print the whole text for an unknown option. `debug` is the DEBUG variable of the process.
 */
export function checkConnectionString(text: string, debug: string = process.env['DEBUG'] ?? ''): void {
  const parts = SHAPE.exec(text.trim());
  if (parts === null) throw refusal('it is not of the form esdb://user:password@host:port,host:port?option=value');
  const [, discover, credentials, hostList = '', optionList = ''] = parts;
  const hosts = hostList.split(',');
  if (discover !== undefined && hosts.length > 1) {
    throw refusal('esdb+discover:// asks its first host only; give several hosts as esdb://a,b,c');
  }
  if (credentials !== undefined && !/^[^:]+:[^:]+$/u.test(credentials)) {
    throw refusal(
      'the credentials are not user:password, each percent-encoded; the client would cut them at the second colon',
    );
  }
  const options = optionsOf(optionList);
  const insecure = options.get('tls') === 'false';
  if (insecure && credentials !== undefined)
    throw refusal('without TLS the credentials are never sent; leave them out or use TLS');
  if (options.get('tlsverifycert') === 'false') {
    throw refusal('tlsVerifyCert=false has no effect; name the certificate authority in tlsCAFile');
  }
  if (options.get('throwonappendfailure') === 'false')
    throw refusal('throwOnAppendFailure=false hides the current revision of a conflict');
  if (Number(options.get('gossiptimeout') ?? 0) > MAX_GOSSIP_SECONDS) throw refusal('gossipTimeout is in seconds');
  if (credentials !== undefined && /(?:^|[\s,])(?:\*|esdb)/u.test(debug)) {
    throw refusal('DEBUG is set for esdb, which prints the password');
  }
}

/** Adds limits for the silence of a node. With the client's own defaults, a caller waits 20 s for a leader that hangs. */
export function withLimits(text: string): string {
  const [address = '', optionList = ''] = text.trim().split('?');
  const options = new Map([...Object.entries(LIMITS), ...optionsOf(optionList)]);
  return `${address}?${[...options].map(([name, value]) => `${name}=${value}`).join('&')}`;
}

function optionsOf(text: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const option of text === '' ? [] : text.split('&')) {
    const [key = '', value = '', ...rest] = option.split('=');
    const name = key.trim().toLowerCase().replace(/[_-]/gu, '');
    if (!KNOWN_OPTIONS.includes(name) || value === '' || rest.length > 0) {
      throw refusal(`each option is one of ${KNOWN_OPTIONS.join(', ')}, with one percent-encoded value`);
    }
    options.set(name, value.trim());
  }
  return options;
}

function refusal(reason: string): Error {
  return new Error(`The connection string of the event store is refused: ${reason}.`);
}
