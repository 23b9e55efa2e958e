// Colours as three numbers from 0 to 255, and the contrast between them (WCAG 2.2). Pure.

export type Colour = readonly [red: number, green: number, blue: number];

/** From 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

/** `share` 0 gives only the first colour, 1 only the second. */
export function mix(one: Colour, other: Colour, share: number): Colour {
  const part = (at: 0 | 1 | 2): number => Math.round(one[at] + (other[at] - one[at]) * share);
  return [part(0), part(1), part(2)];
}

/** Black or white, whichever has more contrast on the colour. */
export function strongestOn(background: Colour): Colour {
  return contrast(BLACK, background) >= contrast(WHITE, background) ? BLACK : WHITE;
}

/** The colour itself if it has enough contrast to all backgrounds, or else the nearest colour with enough contrast. */
export function legible(colour: Colour, backgrounds: readonly [Colour, ...Colour[]], least: number): Colour {
  const strongest = strongestOn(backgrounds[0]);
  for (let share = 0; share < 1; share += 0.02) {
    const candidate = mix(colour, strongest, share);
    if (backgrounds.every((background) => contrast(candidate, background) >= least)) return candidate;
  }
  return strongest;
}

export function css([red, green, blue]: Colour): string {
  return `rgb(${red} ${green} ${blue})`;
}

const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];

function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
