// Receives the webhooks for the demo page. The service delivers only over HTTPS and to public addresses. The demo therefore listens at an otherwise
// unused address of this machine. Only the service that is started together with it trusts its certificate.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { only } from '../programs.mjs';

/** Linux accepts all of 127/8 without configuration. Other systems cannot listen at this address. */
export const RECEIVER_ADDRESS = '127.5.173.1';

const MADE_WITHIN_MS = 10_000;

export const receiverFiles = (dataDir) => ({
  cert: join(dataDir, 'demo', 'receiver.crt'),
  key: join(dataDir, 'demo', 'receiver.key'),
});

/** Makes a new certificate. Returns the variables to add to the service's environment, or the reason why the demo can have no webhooks. */
export async function prepareReceiver(dataDir, env) {
  if (!(await canListen()))
    return { missing: `This machine cannot listen at ${RECEIVER_ADDRESS}, where webhooks would arrive.` };
  const { cert, key } = receiverFiles(dataDir);
  const fault = makeCertificate(cert, key);
  if (fault !== null) return { missing: `No certificate could be made for the receiver of webhooks (${fault}).` };
  const trusted = join(dataDir, 'demo', 'trusted.pem');
  // Node accepts only one file, and only warns when the file is missing.
  const given = env.NODE_EXTRA_CA_CERTS;
  const others = given && existsSync(given) ? `${readFileSync(given, 'utf8')}\n` : '';
  writeFileSync(trusted, others + readFileSync(cert, 'utf8'), { mode: 0o600 });
  const allowed = [env.WEBHOOK_EGRESS_ALLOW, `${RECEIVER_ADDRESS}/32`].filter((range) => range?.trim());
  return { serviceEnv: { NODE_EXTRA_CA_CERTS: trusted, WEBHOOK_EGRESS_ALLOW: allowed.join(',') } };
}

function canListen() {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(0, RECEIVER_ADDRESS, () => server.close(() => resolve(true)));
  });
}

/**
 * Makes the certificate. Returns null, or the reason for a failure. The certificate is not an authority: a program that trusts it trusts only this
 * address.
 */
function makeCertificate(cert, key) {
  mkdirSync(join(cert, '..'), { recursive: true, mode: 0o700 });
  const { status, error } = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '365'],
      ...['-subj', '/CN=Webhook receiver of the demo page'],
      ...['-addext', `subjectAltName=IP:${RECEIVER_ADDRESS}`, '-addext', 'basicConstraints=critical,CA:FALSE'],
      ...['-keyout', key, '-out', cert],
    ],
    { env: only(['PATH', 'HOME', 'LANG', 'TMPDIR']), stdio: 'ignore', timeout: MADE_WITHIN_MS },
  );
  if (error?.code === 'ENOENT') return 'there is no openssl on the PATH';
  if (status !== 0) return 'openssl failed';
  for (const file of [cert, key]) chmodSync(file, 0o600);
  return null;
}
