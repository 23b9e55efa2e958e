// Applies the page's appearance to the frame through the style object, which needs no inline style.
import type { Appearance } from '../contract/options.js';
import type { Colour } from './colour.js';
import { propertiesOf } from './palette.js';

/** Colours with a value of their own: no variables, and no colours that depend on their element. */
const PLAIN_COLOUR =
  /^(#[0-9a-f]{3,8}|[a-z]{3,24}|(rgb|hsl)a?\([\d\s.,%/+deg-]{5,60}\)|(hwb|(ok)?l(ab|ch)|color)\([\w\s.,%/+-]{5,80}\))$/i;
const KEYWORDS = ['currentcolor', 'inherit', 'initial', 'revert', 'transparent', 'unset'];

/** Uses the browser's theme when the page names none. */
export function applyAppearance(appearance: Appearance): void {
  const root = document.documentElement;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  if (appearance.theme) root.dataset['theme'] = appearance.theme;
  let set: string[] = [];
  const apply = (): void => {
    for (const name of set) root.style.removeProperty(name);
    const properties = propertiesOf(appearance, appearance.theme ?? (dark.matches ? 'dark' : 'light'), colourOf);
    set = [...properties.keys()];
    for (const [name, value] of properties) root.style.setProperty(name, value);
  };
  apply();
  if (!appearance.theme) dark.addEventListener('change', apply);
}

/** Reads a colour by painting it, which supports every notation. Null when the text is not a colour, or when the colour is transparent. */
function colourOf(text: string): Colour | null {
  if (!PLAIN_COLOUR.test(text) || KEYWORDS.includes(text.toLowerCase()) || !CSS.supports('color', text)) return null;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.fillStyle = text;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, opacity = 0] = context.getImageData(0, 0, 1, 1).data;
  return opacity === 255 ? [red, green, blue] : null;
}
