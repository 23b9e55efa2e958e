// The language of the page. The markup is English and contains the Spanish text next to each English text; the component has the same language.

export type Language = 'en' | 'es';
/** A text in each language. */
export type Texts = readonly [english: string, spanish: string];

let language: Language = 'en';
const english = new WeakMap<Element, string>();

export const currentLanguage = (): Language => language;

export const say = ([englishText, spanishText]: Texts): string => (language === 'es' ? spanishText : englishText);

/** The first language of the browser that the page supports. The component chooses in the same way. */
export function browsersLanguage(): Language {
  const known = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => tag === 'en' || tag === 'es');
  return known === 'es' ? 'es' : 'en';
}

export function speak(chosen: Language): void {
  language = chosen;
  document.documentElement.lang = chosen;
  for (const each of document.querySelectorAll<HTMLElement>('[data-es]')) {
    if (!english.has(each)) english.set(each, each.textContent);
    each.textContent = (chosen === 'es' ? each.dataset['es'] : english.get(each)) ?? '';
  }
  for (const each of document.querySelectorAll<HTMLElement>('[data-es-label]')) {
    if (!english.has(each)) english.set(each, each.ariaLabel ?? '');
    each.ariaLabel = (chosen === 'es' ? each.dataset['esLabel'] : english.get(each)) ?? '';
  }
}
