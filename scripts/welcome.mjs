// The output of `npm start` when all processes run: addresses, the demo keys, and a first request to paste.
import { join } from 'node:path';

export function welcome({ demoUrl, address, processes, sandboxUrl, dataDir, credentials }) {
  const lines = [''];
  if (demoUrl !== null) lines.push(`The demo page is at   ${demoUrl}`);
  lines.push(`The service runs at   ${address}`, `API documentation at  ${address}/docs`);
  if (sandboxUrl !== null) lines.push(`Sandbox vendors at    ${sandboxUrl}`);
  if (processes !== null) lines.push('', 'Health and metrics of each process');
  for (const { role, probes } of processes ?? []) lines.push(`  ${role.padEnd(18)}  ${probes}`);
  const demo = credentials?.accounts?.demo;
  if (demo) {
    lines.push(
      '',
      `Demo keys (all of them: ${join(dataDir, 'demo-credentials.json')})`,
      `  publishable key  ${demo.publishableKey}`,
      `  secret key       ${demo.secretKey}`,
      `  API key          ${demo.apiKey}`,
      `  allowed origins  ${demo.allowedOrigins.join('  ')}`,
      '',
      'A first request to paste into another terminal:',
      '',
      firstRequest(address, demo),
    );
  }
  lines.push(
    '',
    ...(credentials === null ? [] : [`Logs are in ${join(dataDir, 'logs')}.`]),
    'Ctrl-C stops everything.',
  );
  return lines.join('\n');
}

/** Exchanges a token, then submits a person whose last name makes the sandbox ask for a one-time code. */
function firstRequest(address, { publishableKey, allowedOrigins: [origin] }) {
  return `  TOKEN=$(curl -s -X POST ${address}/auth/token/exchange \\
    -H 'X-Publishable-Key: ${publishableKey}' -H 'Origin: ${origin}' \\
    | node -pe 'JSON.parse(fs.readFileSync(0)).token')

  curl -s -X POST ${address}/screening/submit \\
    -H "Authorization: Bearer $TOKEN" -H 'Origin: ${origin}' -H 'Content-Type: application/json' \\
    -d '{"firstName":"Robin","lastName":"Otptest","dateOfBirth":"04151988","ssn":"123456789","phoneNumber":"5125550143",
         "currentAddress":"100 Main St","currentCity":"Austin","currentState":"TX","currentZip":"78701",
         "jscPayload":"demo","userType":"CONSUMER","termsAcceptedAt":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'"}'`;
}
