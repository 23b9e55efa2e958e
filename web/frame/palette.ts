// The custom properties of style.css that are computed from the page's appearance. Pure: `read` uses the browser to read colours.
import type { Appearance } from '../contract/options.js';
import { type Colour, contrast, css, legible, mix, strongestOn } from './colour.js';

export type Theme = 'light' | 'dark';

interface Base {
  readonly background: Colour;
  readonly text: Colour;
  readonly accent: Colour;
  readonly problem: Colour;
  readonly good: Colour;
}

/** The colours of style.css. A page may replace each colour. */
export const BASES: Readonly<Record<Theme, Base>> = {
  light: {
    background: [255, 255, 255],
    text: [22, 27, 38],
    accent: [36, 84, 214],
    problem: [180, 35, 24],
    good: [17, 113, 75],
  },
  dark: {
    background: [20, 23, 30],
    text: [236, 239, 245],
    accent: [138, 174, 255],
    problem: [255, 158, 148],
    good: [110, 214, 164],
  },
};

const TEXT_CONTRAST = 4.5;
/** For a line around a control. */
const SHAPE_CONTRAST = 3;
const SIZES = {
  borderRadius: { property: '--radius', most: { px: 32, rem: 2, em: 2 } },
  spacing: { property: '--space', most: { px: 48, rem: 3, em: 3 } },
} as const;
const FONT_FAMILY = /^[\p{L}\p{N} ,'"_-]{1,200}$/u;

/** Ignores invalid values, and corrects colours that would be illegible. */
export function propertiesOf(
  appearance: Appearance,
  theme: Theme,
  read: (text: string) => Colour | null,
): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  for (const name of ['borderRadius', 'spacing'] as const) {
    const size = sizeOf(appearance[name], SIZES[name].most);
    if (size !== null) properties.set(SIZES[name].property, size);
  }
  if (appearance.fontFamily !== undefined && FONT_FAMILY.test(appearance.fontFamily))
    properties.set('--font', appearance.fontFamily);

  const chosen = (text: string | undefined): Colour | null => (text === undefined ? null : read(text));
  const background = chosen(appearance.backgroundColor);
  const text = chosen(appearance.textColor);
  const accent = chosen(appearance.accentColor);
  if (background ?? text ?? accent)
    for (const [name, colour] of coloursOf(theme, { background, text, accent })) properties.set(name, css(colour));
  return properties;
}

function coloursOf(
  theme: Theme,
  chosen: Readonly<Record<'background' | 'text' | 'accent', Colour | null>>,
): ReadonlyMap<string, Colour> {
  const background = chosen.background ?? BASES[theme].background;
  // A page may set only the background, and may set a dark one. The other colours then come from the theme that suits the background.
  const base = BASES[contrast(background, [255, 255, 255]) > contrast(background, [0, 0, 0]) ? 'dark' : 'light'];
  /** A light tint of a colour on the background, if the strongest text still has enough contrast on the tint. */
  const tinted = (colour: Colour, share: number): Colour => {
    const tint = mix(background, colour, share);
    return contrast(strongestOn(background), tint) >= TEXT_CONTRAST ? tint : background;
  };
  const readable = (colour: Colour): Colour => legible(colour, [background, tinted(colour, 0.08)], TEXT_CONTRAST);
  const text = legible(chosen.text ?? base.text, [background], 7);
  const accent = chosen.accent ?? base.accent;
  const soft = tinted(text, 0.04);
  return new Map([
    ['--background', background],
    ['--text', text],
    ['--muted', legible(mix(text, background, 0.35), [background, soft], TEXT_CONTRAST)],
    ['--line', legible(mix(text, background, 0.6), [background], SHAPE_CONTRAST)],
    ['--faint', mix(background, text, 0.14)],
    ['--soft', soft],
    ['--accent', accent],
    ['--ring', legible(accent, [background], SHAPE_CONTRAST)],
    ['--on-accent', strongestOn(accent)],
    ['--accent-text', readable(accent)],
    ['--accent-soft', tinted(accent, 0.08)],
    ['--problem', readable(base.problem)],
    ['--problem-soft', tinted(base.problem, 0.08)],
    ['--good', readable(base.good)],
    ['--good-soft', tinted(base.good, 0.08)],
  ]);
}

/** A number with a known unit, up to the largest value that fits. */
function sizeOf(text: string | undefined, most: Readonly<Record<'px' | 'rem' | 'em', number>>): string | null {
  const [, number, unit] =
    /^(\d{1,3}(?:\.\d{1,3})?)(px|rem|em)$/.exec(text ?? '') ?? (text === '0' ? ['', '0', 'px'] : []);
  if (number === undefined || unit === undefined) return null;
  return `${Math.min(Number(number), most[unit as 'px'])}${unit}`;
}
