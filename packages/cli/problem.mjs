// Failures that the person at the terminal can correct. A command reports such a failure in one sentence, without a stack trace.

export class Problem extends Error {
  exitCode = 1;
}

/** The command line is wrong. */
export class WrongUsage extends Problem {
  exitCode = 2;
}

/** The service does not answer now, or asks the caller to wait. The same request may succeed later. */
export class Temporary extends Problem {
  constructor(message, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

const REASONS = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted; NODE_EXTRA_CA_CERTS adds an authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted; NODE_EXTRA_CA_CERTS adds an authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted; NODE_EXTRA_CA_CERTS adds an authority',
};

/** A few words that say why a fetch failed. */
export function reasonOf(error) {
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { code, message } = error.cause ?? error;
  return REASONS[code] ?? code ?? message;
}
