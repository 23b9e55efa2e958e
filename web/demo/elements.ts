// Finds and makes elements of the page.

export function byId<Kind extends Element>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}`);
  return found;
}

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text = '',
  className = '',
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

export function button(text: string, press: () => void, className = ''): HTMLButtonElement {
  const made = element('button', text, className);
  made.type = 'button';
  made.addEventListener('click', press);
  return made;
}

export type IconName = 'page' | 'webhook' | 'check' | 'card' | 'share' | 'stop' | 'alert' | 'lock';

/** A decoration: the text next to it has the same meaning. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', `icon ${name}`);
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#icon-${name}`);
  svg.append(use);
  return svg;
}

export const time = (at: Date): HTMLTimeElement => {
  const made = element('time', at.toLocaleTimeString(undefined, { hour12: false }));
  made.dateTime = at.toISOString();
  return made;
};
