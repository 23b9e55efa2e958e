// `node --import <this file> script.ts` runs TypeScript of this repository as a process of its own, without a build.
import { register } from 'node:module';

register('./hooks.mjs', import.meta.url);
