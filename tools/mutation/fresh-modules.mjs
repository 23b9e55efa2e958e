// Gives each run of a certificate its own copies of the vendor's files. An import from a file with `?run=` leads to a file with the same `?run=`.
const OWN = /\/src\/vendors\/[^/]+\/[^/]+\.ts$/;

export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  const run = /\?run=\d+$/.exec(context.parentURL ?? '')?.[0];
  return run !== undefined && OWN.test(resolved.url) ? { ...resolved, url: resolved.url + run } : resolved;
}

export function load(url, context, next) {
  return next(url.replace(/\?run=\d+$/, ''), context);
}
