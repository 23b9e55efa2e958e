// Two operators with keys of their own, for commands that need the approval of a second operator.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandResult, runOperatorCommand } from './operator.js';

type Ops = (...args: string[]) => Promise<CommandResult>;
const REASON = 'the matter is closed';

/** `ann` asks, and `bob` approves. */
export class TwoOperators {
  private constructor(
    private readonly env: Readonly<Record<string, string>>,
    private readonly folder: string,
  ) {}

  static async of(env: Readonly<Record<string, string>>): Promise<TwoOperators> {
    const operators = new TwoOperators(env, mkdtempSync(join(tmpdir(), 'operators-')));
    for (const name of ['ann', 'bob'])
      await operators.told(name, 'operators', 'add', name, '--key-to', operators.file(`${name}.pem`));
    return operators;
  }

  as(name: string): Ops {
    return (...args) => runOperatorCommand(args, { ...this.env, OPERATOR: name });
  }

  /** The options with which ann's command uses bob's approval. */
  async approvalOf(act: string, subject: string): Promise<string[]> {
    const [request, approval] = [this.file(`${subject}.request`), this.file(`${subject}.approval`)];
    const asked = ['request', act, subject, '--reason', REASON, '--key', this.file('ann.pem')];
    writeFileSync(request, await this.told('ann', 'operators', ...asked));
    writeFileSync(approval, await this.told('bob', 'operators', 'sign', request, '--key', this.file('bob.pem')));
    return ['--reason', REASON, '--approved-by', 'bob', '--approval', approval];
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private file(name: string): string {
    return join(this.folder, name);
  }

  private async told(name: string, ...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.as(name)(...args);
    if (exitCode !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return stdout;
  }
}
