// Module hooks that compile TypeScript as Jest does.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import jest from '../../../jest.config.js';

const [, options] = jest.transform['^.+\\.ts$'];

export function resolve(specifier, context, next) {
  const ours = context.parentURL?.endsWith('.ts') && /^\.{1,2}\//.test(specifier);
  return next(ours ? specifier.replace(/\.js$/, '.ts') : specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), { ...options, filename, swcrc: false, sourceMaps: 'inline' });
  return { format: 'module', shortCircuit: true, source: code };
}
