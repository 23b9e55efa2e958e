// `npm run bruno`: writes the demo keys of `npm start` where the collection in docs/bruno finds them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';

await runCommand(() => {
  const file = resolve(ROOT, process.env.DATA_DIR || '.data', 'demo-credentials.json');
  if (!existsSync(file)) throw new Problem(`There is no ${file}. Run npm start first; it makes the demo accounts.`);
  const { baseUrl, accounts } = JSON.parse(readFileSync(file, 'utf8'));
  const { accountId, publishableKey, secretKey, dashboardTokens, allowedOrigins } = accounts.demo;
  const variables = {
    BASE_URL: baseUrl,
    ORIGIN: allowedOrigins[0],
    PUBLISHABLE_KEY: publishableKey,
    SECRET_KEY: secretKey,
    // The renter of the account `demo` would have to pay before the report.
    API_KEY: accounts.nopay.apiKey,
    DASHBOARD_TOKEN: dashboardTokens.owner,
    ACCOUNT_ID: accountId,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  const target = join(ROOT, 'docs', 'bruno', '.env');
  writeFileSync(target, lines.join(''), { mode: 0o600 });
  console.log(`Wrote the keys of ${file} to ${target}.`);
});
