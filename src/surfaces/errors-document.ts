// The error catalogue as a page for integrators.
import { ERROR_CODES } from '../kernel/error-codes.js';
import type { Area, Surface } from '../platform/http/surface.js';

/** The whole of `docs/errors.md`: one table for each vocabulary, with the surfaces that share it. */
export function errorsDocument(surfaces: readonly Surface[]): string {
  const vocabularies = [...new Set(surfaces.map(({ errors }) => errors))].map((shared) =>
    surfaces.filter(({ errors }) => errors === shared),
  );
  return [
    '# Errors',
    '',
    'Generated from the error catalogue (`npm run docs`); do not edit. Several internal error codes of the service may have the same',
    'public code. The last column has the internal code. If it also has a path, the row applies only below that path. A reply with',
    'status 429 has `Retry-After` if the request can succeed later. On the direct API each 429, 503 and 504 has this header. Your code',
    'needs a default branch for unknown codes.',
    ...vocabularies.flatMap((sharing) => ['', ...section(sharing)]),
    '',
  ].join('\n');
}

function section(surfaces: readonly Surface[]): string[] {
  const areas = surfaces.flatMap(({ areas: all }) => all);
  const paths = areas.map(({ prefix }) => prefix).filter((prefix) => prefix !== '/');
  const [{ headings, about, appendix } = { headings: [], about: [], appendix: [] }] = surfaces;
  const rowsOf = ({ prefix, told }: Area, special: boolean): string[] =>
    told(special).map(
      ([code, columns]) =>
        `| ${[...columns, ERROR_CODES[code], `\`${code}\`${special ? ` below \`${prefix}\`` : ''}`].join(' | ')} |`,
    );
  const rows = [
    ...areas.slice(0, 1).flatMap((area) => rowsOf(area, false)),
    ...areas.flatMap((area) => rowsOf(area, true)),
  ];
  return [
    `## ${surfaces.map(({ name }) => name).join(', ')}`,
    '',
    `Paths: ${paths.map((path) => `\`${path}\``).join(', ')}.`,
    '',
    ...about,
    '',
    `| ${[...headings, 'When', 'Internal code'].join(' | ')} |`,
    `|${'---|'.repeat(headings.length + 2)}`,
    ...rows.sort(),
    ...appendix,
  ];
}
