#!/usr/bin/env node
// The command `screening`. Each command is a module of its own, which is loaded only when it runs.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { HELP } from './help.mjs';
import { Problem, WrongUsage } from './problem.mjs';

const COMMANDS = {
  listen: './listen.mjs',
  resend: './resend.mjs',
  trigger: './trigger.mjs',
  'logs tail': './logs-tail.mjs',
};

const terminal = {
  say: (text) => console.log(text),
  warn: (text) => console.error(text),
  time: () => new Date().toISOString().slice(11, 19),
};

/** The command's name and the arguments after it. */
function commandOf(args) {
  const length = args[0] === 'logs' ? 2 : 1;
  return { name: args.slice(0, length).join(' '), rest: args.slice(length) };
}

async function main(args) {
  if (args[0] === '--version') {
    const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
    return terminal.say(version);
  }
  if (args.length === 0) throw new WrongUsage(HELP['']);
  if (args[0] === 'help' || args.includes('--help') || args.includes('-h')) return terminal.say(helpFor(args));
  const { name, rest } = commandOf(args);
  if (!Object.hasOwn(COMMANDS, name))
    throw new WrongUsage(`screening has no command "${name}". screening --help lists the commands.`);
  const { OPTIONS, run } = await import(COMMANDS[name]);
  const { values, positionals } = parse(rest, OPTIONS, name);
  const [{ readSettings }, { Service }] = await Promise.all([import('./settings.mjs'), import('./service.mjs')]);
  const settings = readSettings(process.env, process.cwd());
  const signal = endOfWork();
  const work = run({ values, words: positionals, settings, service: new Service(settings), terminal, signal });
  await work.catch((error) => {
    if (!signal.aborted) throw error;
  });
}

function helpFor(args) {
  const words = args.filter((arg) => !arg.startsWith('-') && arg !== 'help');
  return HELP[words.slice(0, 2).join(' ')] ?? HELP[words[0]] ?? HELP[''];
}

function parse(args, options, name) {
  try {
    const parsed = parseArgs({ args, options, allowPositionals: true });
    if (parsed.positionals.length > 0 && !['trigger', 'resend'].includes(name))
      throw new Error(`Unexpected word: ${parsed.positionals[0]}`);
    return parsed;
  } catch (error) {
    throw new WrongUsage(`${error.message.split('. ')[0]}. screening ${name} --help lists the options.`);
  }
}

/** The first Ctrl-C ends the work. The second one ends the process. */
function endOfWork() {
  const ended = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => ended.abort());
  return ended.signal;
}

// The reader of a pipe may end first, as in `screening logs tail | head`.
process.stdout.on('error', () => process.exit(0));

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = error.exitCode ?? 1;
}
