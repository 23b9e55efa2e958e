// The choices in the form, as arguments of `init` and `mount`.
import type { EndUserType, UserType, View } from '../contract/callbacks.js';
import type { Appearance, InitOptions, MountOptionsByView, Prefill } from '../contract/options.js';

export type GrantChoice = 'none' | 'own' | 'child';

export interface Choice {
  readonly account: string;
  readonly grant: GrantChoice;
  readonly pageHandles: boolean;
  readonly view: View;
  readonly init: InitOptions;
  readonly mount: MountOptionsByView['screening'] & { readonly selector: string };
}

const APPEARANCE = [
  'theme',
  'accentColor',
  'backgroundColor',
  'textColor',
  'borderRadius',
  'fontFamily',
  'spacing',
] as const;

export function readChoice(form: HTMLFormElement, prefill: Prefill, locale: string): Choice {
  const data = new FormData(form);
  const text = (name: string): string => {
    const value = data.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  /** Omits an option that is empty. */
  const option = <Value>(name: string, read: (text: string) => Value): Record<string, Value> =>
    text(name) === '' ? {} : { [name]: read(text(name)) };
  const appearance: Appearance = APPEARANCE.reduce((all, name) => ({ ...all, ...option(name, String) }), {});
  return {
    account: text('account'),
    grant: text('grant') as GrantChoice,
    pageHandles: data.has('pageHandles'),
    view: text('view') as View,
    init: {
      locale,
      ...(Object.keys(appearance).length > 0 && { appearance }),
    },
    mount: {
      selector: '#component',
      unitAddress: text('unitAddress'),
      userType: text('userType') as UserType,
      ...option('endUserType', (value) => value as EndUserType),
      ...option('applicationFee', Number),
      ...option('productId', Number),
      ...option('screeningId', String),
      prefill,
    },
  };
}

/** The demo's calls in the form in which an integrator would write them. */
export function asCode({ view, mount, pageHandles }: Choice, publishableKey: string, init: InitOptions): string {
  const shown = init.sessionToken === undefined ? init : { ...init, sessionToken: 'as minted by your server' };
  const callbacks = [
    'onScreeningSuccess',
    'onError',
    ...(pageHandles ? ['handlePrintRequested', 'handleDownloadRequested'] : []),
  ].map((name) => `  ${name}: (payload) => console.log('${name}', payload),\n`);
  return `const service = await Service.init('${publishableKey}', ${literal(shown)});

const mounted = await service.mount('${view}', ${literal(mount).slice(0, -1)}${callbacks.join('')}});`;
}

function literal(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const fields = Object.entries(value).map(([name, field]) => `${inner}${name}: ${literal(field, inner)},\n`);
  return `{\n${fields.join('')}${indent}}`;
}
