// The two parts of the demo as tabs: arrow keys choose, as in the WAI pattern (https://www.w3.org/WAI/ARIA/apg/patterns/tabs/).
import { byId } from './elements.js';

export function prepareTabs(names: readonly string[]): void {
  const tabs = names.map((name) => byId(`${name}-tab`, HTMLButtonElement));
  const choose = (chosen: HTMLButtonElement): void => {
    for (const tab of tabs) {
      tab.ariaSelected = String(tab === chosen);
      tab.tabIndex = tab === chosen ? 0 : -1;
      byId(tab.getAttribute('aria-controls') ?? '', HTMLElement).hidden = tab !== chosen;
    }
  };
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', ({ key }) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
      const next = tabs[(index + (step ?? 0) + tabs.length) % tabs.length];
      if (step === undefined || next === undefined) return;
      choose(next);
      next.focus();
    });
  }
  if (tabs[0] !== undefined) choose(tabs[0]);
}
