// A page may choose parts of the component's appearance. The text stays readable for every choice.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Colour, contrast, css } from '../../../web/frame/colour.js';
import { BASES, propertiesOf, type Theme } from '../../../web/frame/palette.js';

const hex = (text: string): Colour | null => {
  const digits = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/.exec(text);
  return digits && [parseInt(digits[1]!, 16), parseInt(digits[2]!, 16), parseInt(digits[3]!, 16)];
};
const rgb = (text: string): Colour => text.match(/\d+/g)!.map(Number) as unknown as Colour;
const colour = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((parts) => parts as Colour);

describe('The appearance of a page', () => {
  it('is unchanged when the page chooses nothing', () => {
    expect([...propertiesOf({}, 'light', hex)]).toEqual([]);
  });

  it('accepts lengths and font families, and limits a length that is too large', () => {
    const properties = propertiesOf(
      { borderRadius: '4px', spacing: '900px', fontFamily: "'Open Sans', sans-serif" },
      'light',
      hex,
    );
    expect(Object.fromEntries(properties)).toEqual({
      '--radius': '4px',
      '--space': '48px',
      '--font': "'Open Sans', sans-serif",
    });
  });

  it.each(['4', '4vw', '-4px', 'calc(1px)', 'var(--x)', '4px;color:red', '1e3px'])(
    'ignores the length %s',
    (length) => {
      expect([...propertiesOf({ borderRadius: length, spacing: length }, 'light', hex)]).toEqual([]);
    },
  );

  it.each(['Arial; color: red', 'url(x)', 'a{b', 'x'.repeat(201)])('ignores the font family %s', (fontFamily) => {
    expect([...propertiesOf({ fontFamily }, 'light', hex)]).toEqual([]);
  });

  it('keeps a readable colour unchanged', () => {
    expect(propertiesOf({ accentColor: '#0a6b3d' }, 'light', hex).get('--accent')).toBe('rgb(10 107 61)');
    expect(propertiesOf({ textColor: '#000000' }, 'light', hex).get('--text')).toBe('rgb(0 0 0)');
  });

  it.each(['light', 'dark'] as const)('is readable for all colours (%s)', (theme: Theme) => {
    fc.assert(
      fc.property(colour, colour, colour, (background, text, accent) => {
        const properties = propertiesOf(
          { backgroundColor: 'background', textColor: 'text', accentColor: 'accent' },
          theme,
          (name) => ({ background, text, accent })[name] ?? null,
        );
        const of = (name: string): Colour => rgb(properties.get(name)!);
        for (const [front, back, least] of [
          ['--text', '--background', 4.5],
          ['--text', '--soft', 4.5],
          ['--muted', '--background', 4.5],
          ['--muted', '--soft', 4.5],
          ['--on-accent', '--accent', 4.5],
          ['--accent-text', '--background', 4.5],
          ['--accent-text', '--accent-soft', 4.5],
          ['--problem', '--background', 4.5],
          ['--ring', '--background', 3],
          ['--line', '--background', 3],
        ] as const)
          expect([front, back, contrast(of(front), of(back)) >= least]).toEqual([front, back, true]);
      }),
    );
  });

  it.each(['light', 'dark'] as const)('is readable in the unchanged %s theme', (theme) => {
    const { background, text, accent, problem, good } = BASES[theme];
    for (const front of [text, accent, problem, good])
      expect([css(front), contrast(front, background) >= 4.5]).toEqual([css(front), true]);
  });
});

describe('The demo page', () => {
  it('has the colours of the component', () => {
    const style = readFileSync('web/demo/style.css', 'utf8');
    for (const name of ['background', 'text', 'accent', 'problem', 'good'] as const) {
      const [, light = '', dark = ''] = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(style) ?? [];
      expect([name, hex(light), hex(dark)]).toEqual([name, BASES.light[name], BASES.dark[name]]);
    }
  });
});
