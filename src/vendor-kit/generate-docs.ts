// Writes the README.md of each vendor's folder from the facts that the folder declares. Run by `npm run docs` and `npm run vendor:new`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { variablesOf, type VendorSetting } from '../kernel/vendor-settings.js';
import { certificateOf } from './certificate.js';
import type { Vendor } from './define-vendor.js';
import type { CertifiedPersona } from './double/certified-double.js';
import { findVendors } from './registry.js';

const FOLDERS = join(import.meta.dirname, '..', 'vendors');

for (const vendor of await findVendors(FOLDERS, '')) {
  const extension = import.meta.filename.slice(-2);
  const certified = pathToFileURL(join(FOLDERS, vendor.id, 'double', `certified.${extension}`)).href;
  const { personas } = (await import(certified)) as { readonly personas: readonly CertifiedPersona[] };
  const folder = join('src', 'vendors', vendor.id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'README.md'), pageOf(vendor, personas));
}

function pageOf(vendor: Vendor, personas: readonly CertifiedPersona[]): string {
  const { level, smokeTested } = certificateOf(vendor.id) ?? { level: 'none' };
  return [
    '<!-- `npm run docs` writes this page from the files of the folder. -->',
    `# ${vendor.id}`,
    ...(vendor.about === undefined ? [] : [vendor.about]),
    `The level of the certification is **${level}**${smokeTested === undefined ? '' : `, with a smoke test on ${smokeTested}`}.`,
    '[Add a vendor](../../../docs/how-to/add-a-vendor.md) explains the declarations.',
    ...capabilitiesOf(vendor),
    '## Settings',
    table(
      ['Variable', 'Test traffic in production', 'Kind', 'Default'],
      Object.entries(vendor.settings).map(([name, setting]) => {
        const { variable, testVariable } = variablesOf(vendor.id, name, setting);
        const kind = setting.optional ? `${setting.kind}, optional` : setting.kind;
        return [words(variable), testVariable ? words(testVariable) : 'the sandbox', kind, defaultOf(setting)];
      }),
    ),
    ...(vendor.limits === undefined ? [] : ['## Limits', table(['Limit', 'Value'], facts(vendor.limits))]),
    ...(vendor.notices ? [`The vendor sends notices to \`/internal/vendors/${vendor.id}/events\`.`] : []),
    '## Personas of the double',
    'The certification tests these persons. [The sandbox](../../../docs/sandbox.md) can have further ones.',
    table(['Person', 'Verdicts'], personas.map(personaRow)),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

function capabilitiesOf({ capabilities }: Vendor): string[] {
  return Object.entries(capabilities).flatMap(([name, { operations, ...others }]: [string, { operations: object }]) => {
    const declared = 'currencies' in others ? { currencies: Object.keys(others.currencies as object).length } : others;
    return [`## Capability \`${name}\``, table(['Declaration', 'Value'], [...facts(operations), ...facts(declared)])];
  });
}

function defaultOf(setting: VendorSetting): string {
  if ('fallback' in setting && setting.fallback !== undefined) return words(setting.fallback);
  if (setting.published !== undefined) return `${words(setting.published)}, outside production`;
  return setting.kind === 'url' && !setting.optional ? "the sandbox's address, outside production" : 'none';
}

function personaRow({ person, reference, ...verdicts }: CertifiedPersona): readonly string[] {
  const named = { ...person, ...(reference !== undefined && { reference }) };
  return [
    words(named) || 'any',
    Object.entries(verdicts)
      .map(([name, value]) => `${name}: ${words(value)}`)
      .join('; '),
  ];
}

function facts(values: object): string[][] {
  return Object.entries(values).map(([name, value]) => [`\`${name}\``, words(value)]);
}

/** The kind of a verdict stands without its name. The facts inside of a fact of a verdict are left out. */
function words(value: unknown, isInner = false): string {
  if (Array.isArray(value)) return value.map((one) => words(one)).join(', ');
  if (typeof value !== 'object' || value === null) return `\`${String(value)}\``;
  return Object.entries(value)
    .filter(([, fact]) => !isInner || typeof fact !== 'object')
    .map(([name, fact]) => (name === 'kind' ? words(fact) : `${name} ${words(fact, true)}`))
    .join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
