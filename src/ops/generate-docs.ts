// Writes the help of every command, so that scripts/ops.mjs shows it without loading a command. Run by `npm run docs`.
import 'reflect-metadata';
import { mkdirSync, writeFileSync } from 'node:fs';
import { CommandFactory, InjectCommander } from 'nest-commander';
import { allCommands, OpsModule } from './ops.module.js';

interface Program {
  name(): string;
  helpInformation(): string;
  readonly commands: readonly Program[];
}

class Root {
  constructor(@InjectCommander() readonly program: Program) {}
}

/** Each command without what it works with: its declarations make the help. */
const declared = (await allCommands()).map((type) => ({
  provide: type,
  useValue: Object.create(type.prototype as object) as object,
}));
const root = { module: OpsModule, providers: [Root, ...declared] };
const app = await CommandFactory.createWithoutRunning(root as never, { cliName: 'ops', logger: false });
const help: Record<string, string> = {};
collect(app.get(Root, { strict: false }).program, []);
mkdirSync('scripts', { recursive: true });
writeFileSync('scripts/ops-help.json', `${JSON.stringify(help, null, 2)}\n`);
await app.close();

function collect(command: Program, words: readonly string[]): void {
  help[words.join(' ')] = command.helpInformation();
  for (const one of command.commands) if (one.name() !== 'help') collect(one, [...words, one.name()]);
}
