// Exits with 0 when the process in this container is healthy, for Docker's HEALTHCHECK. The path is /health/ready unless an argument names another
// path.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

const { PORT = '3000', TLS_CERT } = process.env;
const [path = '/health/ready', port = PORT] = process.argv.slice(2);
const send = TLS_CERT ? httpsRequest : httpRequest;

// The certificate is for the public name, which does not matter for this check.
send({ host: '127.0.0.1', port, path, rejectUnauthorized: false, timeout: 4_000 }, ({ statusCode }) =>
  process.exit(statusCode === 200 ? 0 : 1),
)
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
  .end();
