// nest-commander loads inquirer, which asks questions on a terminal and has 200 files with its needs. No command asks through it, so an empty module
// takes its place. `main.ts` imports this file before nest-commander.
import { createRequire, Module } from 'node:module';

const { cache, resolve } = createRequire(createRequire(import.meta.url).resolve('nest-commander'));
const path = resolve('inquirer');
cache[path] = Object.assign(new Module(path), { loaded: true });
