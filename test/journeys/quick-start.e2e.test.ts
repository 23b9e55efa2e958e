// The test pastes docs/quick-start.md into a terminal from top to bottom, without editing anything.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Service } from '../support/service.js';

const PAGE = readFileSync('docs/quick-start.md', 'utf8');
const COMMANDS = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n');
/** The service refuses further submissions of one person within an hour. */
const OFTEN = 6;

let service: Service;

beforeAll(async () => {
  // The limit that the page meets. The other limits are off, because the test repeats submissions.
  service = await Service.start({ CONFIRMS_PER_MINUTE: '20' });
});
afterAll(() => service?.stop());

/**
 * Runs the commands as if they were pasted into a terminal. Unlike a terminal, this function stops at the first command
 * that fails.
 */
async function pasted(commands: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', commands], {
    env: { ...process.env, ...service.env },
    maxBuffer: 16_000_000,
  });
  return stdout;
}

describe('the quick start', () => {
  it('runs as a whole, and each reply has the content that its title promises', async () => {
    const output = await pasted(COMMANDS);
    const replies = output.split(/^--- /m).slice(1);
    expect(replies).toHaveLength([...COMMANDS.matchAll(/\| show '/g)].length);
    for (const reply of replies) {
      const [title = '', ...printed] = reply.split('\n');
      const word = /: ([A-Z_]+|userAuthenticated)$/.exec(title)?.[1];
      expect(printed.join('\n')).toContain(word ?? '{');
      expect(printed.join('\n')).not.toContain('error:');
    }
    expect(output).toContain('ReportShared');
    expect(output).toContain('SharingRevoked');
    expect(existsSync(join(service.dataDir, 'report.html'))).toBe(true);
  });

  it('can be pasted repeatedly, because each run screens another person', async () => {
    const submission = COMMANDS.slice(0, COMMANDS.indexOf('printf %s "$SUBMITTED" | show'));
    for (let time = 1; time <= OFTEN; time += 1)
      expect((await pasted(`${submission}\necho "$ID"`)).trim()).toMatch(/^[\da-f-]{36}$/);
  });
});
