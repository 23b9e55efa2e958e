// The help of operator commands, from the file that `npm run docs` writes. Nothing of the service is loaded or built for it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './installation.mjs';

/**
 * The help that these arguments ask for, or the usage where they name no command. Null: the arguments are a command to run.
 * `exitCode` is 1 where the arguments are wrong.
 */
export function helpFor(args) {
  const help = JSON.parse(readFileSync(join(ROOT, 'scripts', 'ops-help.json'), 'utf8'));
  const options = args.findIndex((arg) => arg.startsWith('-'));
  const given = options === -1 ? args : args.slice(0, options);
  const words = given.filter((word, at) => word !== 'help' || at > 1);
  const wantsHelp = words.length < given.length || args.some((arg) => arg === '--help' || arg === '-h');
  let known = 0;
  while (known < words.length && Object.hasOwn(help, words.slice(0, known + 1).join(' '))) known++;
  const name = words.slice(0, known).join(' ');
  const isGroup = name === '' || Object.keys(help).some((one) => one.startsWith(`${name} `));
  if (isGroup && known < words.length)
    return { text: `There is no command ${words.slice(0, known + 1).join(' ')}.\n\n${help[name]}`, exitCode: 1 };
  if (wantsHelp) return { text: help[name], exitCode: 0 };
  return isGroup ? { text: help[name], exitCode: 1 } : null;
}
