// The choices in the form, as arguments of `init` and `mount`, and as the code of a page.
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

export interface Target {
  readonly baseUrl: string;
  readonly embeddedUrl: string;
  readonly publishableKey: string;
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

/** The component's part of the demo page in the form in which an integrator would write it. Each account allows the origins of its own pages. */
export function asCode({ view, init, mount, grant, pageHandles }: Choice, target: Target): string {
  const { baseUrl, embeddedUrl, publishableKey } = target;
  const shown = {
    ...(embeddedUrl !== `${baseUrl}/embedded` && { embeddedUrl }),
    ...init,
    ...(grant !== 'none' && { sessionToken: 'as minted by your server' }),
  };
  const callbacks = [
    'onScreeningSuccess',
    'onError',
    ...(pageHandles ? ['handlePrintRequested', 'handleDownloadRequested'] : []),
  ].map((name) => `    ${name}: (payload) => console.log('${name}', payload),\n`);
  const options = literal(mount, '  ').slice(0, -3);
  return `<div id="component"></div>
<script src="${baseUrl}/embed/v1/service.js"></script>
<script type="module">
  const service = await Service.init('${publishableKey}', ${literal(shown, '  ')});

  const mounted = await service.mount('${view}', ${options}${callbacks.join('')}  });
</script>`;
}

function literal(value: unknown, indent = ''): string {
  // A text of the person must not end the script.
  if (typeof value !== 'object' || value === null) return JSON.stringify(value).replaceAll('<', '\\u003c');
  const inner = `${indent}  `;
  const fields = Object.entries(value).map(([name, field]) => `${inner}${name}: ${literal(field, inner)},\n`);
  return `{\n${fields.join('')}${indent}}`;
}
