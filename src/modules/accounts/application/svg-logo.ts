// Reads an SVG and writes it again with only the shapes, colours and gradients of its picture. Names and values outside the lists below never reach the
// written file. So this code needs no XML library, which would understand more than the lists allow.

const SHAPES = ['path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon'];
const GRADIENTS = ['linearGradient', 'radialGradient'];
const ELEMENTS: ReadonlySet<string> = new Set(['svg', 'g', 'defs', 'stop', 'clipPath', ...GRADIENTS, ...SHAPES]);
/** Notes of drawing programs. They are left out with their contents. */
const NOTES = /^(?:title|desc|metadata|\w+:[\w-]+)$/;
/** The properties that have the same meaning in an attribute and in a style. */
const PROPERTIES =
  'color fill fill-opacity fill-rule stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray stroke-dashoffset ' +
  'stroke-opacity opacity clip-path clip-rule stop-color stop-opacity display visibility';
const STYLED: ReadonlySet<string> = new Set(PROPERTIES.split(' '));
const ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    'id d points x y x1 y1 x2 y2 cx cy fx fy fr r rx ry width height offset transform gradientTransform gradientUnits spreadMethod clipPathUnits ' +
    `viewBox preserveAspectRatio ${PROPERTIES}`
  ).split(' '),
);
/** These change the picture and cannot be kept. All other unknown names are left out. */
const LOST =
  /^(?:mask|filter|backdrop-filter|marker|mix-blend-mode|vector-effect|paint-order|transform-(?:origin|box|style)|translate|rotate|scale|zoom|all|offset|background|border|outline|pathLength|systemLanguage|requiredExtensions)(?:-[\w-]+)?$/;
/** These have another syntax in a style than in an attribute. */
const GEOMETRY = /^(?:d|c?[xy]|r[xy]?|width|height|transform)$/;
/** Values with which a property changes nothing. */
const UNCHANGED = /^(?:none|normal|auto|initial|transparent|0)$/;
/** Numbers, names, colours and functions. No address, entity, quote or backslash has only these characters. */
const VALUE = /^[\w .,#%()+-]*$/;
const ID = /^[\w:.-]+$/;
/** The only form of a reference: to a part of the same file. */
const REFERENCE = /^url\(#[\w:.-]+\)$/;
/** Attributes allow no units here. */
const TRANSFORM = /^(?:none|(?:(?:matrix|translate|scale|rotate|skewX|skewY) ?\([\d .,eE+-]*\)[ ,]*)*)$/;
const TOKEN =
  /<!--[^]*?-->|<\/([\w:-]+)\s*>|<([\w:-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/** A prefix for the elements of SVG themselves. */
const SVG_PREFIX = /xmlns:(\w+)\s*=\s*["']\s*http:\/\/www\.w3\.org\/2000\/svg/g;
const PROLOG = /^\uFEFF?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[^]*?-->\s*)*(?:<!DOCTYPE[^>[]*>)?/;
const MAX_DEPTH = 32;
/** The height of every SVG in pixels. The pages show logos smaller. */
const HEIGHT = 64;
const MAX_RATIO = 50;

/** A fault of the file, as a clause for people. */
class Fault extends Error {}

/** Returns the SVG as it is written again, or a description of the fault for people. */
export function reencodedSvg(file: Buffer): Buffer | string {
  try {
    return Buffer.from(new Rewriting(file.toString('utf8').replace(PROLOG, '')).written());
  } catch (error) {
    if (error instanceof Fault) return `The SVG file of the logo ${error.message}.`;
    throw error;
  }
}

class Rewriting {
  private readonly out: string[] = [];
  private readonly open: string[] = [];
  /** The number of open elements, from the outermost note on; 0 outside notes. */
  private noted = 0;
  private draws = false;
  private readonly prefixes: ReadonlySet<string>;

  constructor(private readonly text: string) {
    this.prefixes = new Set(['svg', ...[...text.matchAll(SVG_PREFIX)].map(([, prefix = '']) => prefix)]);
  }

  written(): string {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < this.text.length) {
      const token = TOKEN.exec(this.text);
      if (token === null) throw new Fault('is not a well-formed SVG without entities and processing instructions');
      const [, closed, opened, attributes = '', alone, text = ''] = token;
      if (opened !== undefined) this.start(opened, attributes, alone === '/');
      else if (closed !== undefined) this.end(closed);
      else if (text.trim() !== '' && this.noted === 0) throw new Fault('has text, which must be converted to paths');
    }
    if (this.open.length > 0 || this.out.length === 0) throw new Fault('has no end');
    if (!this.draws) throw new Fault('draws nothing');
    return this.out.join('');
  }

  private start(name: string, written: string, alone: boolean): void {
    const isRoot = this.open.length === 0;
    if (isRoot !== (name === 'svg') || (isRoot && this.out.length > 0))
      throw new Fault('must have one svg element, the outermost');
    if (this.open.length === MAX_DEPTH) throw new Fault(`has more than ${MAX_DEPTH} levels`);
    if (this.isNote(name)) this.noted += 1;
    else {
      if (!ELEMENTS.has(name))
        throw new Fault(`has the element ${name}; only shapes, groups, gradients and clip paths are accepted`);
      this.draws ||= SHAPES.includes(name) && this.open.every((around) => around === 'svg' || around === 'g');
      const attributes = [...this.attributesOf(name, written)];
      const kept = isRoot ? sized(attributes) : attributes;
      this.out.push(`<${name}`, ...kept.map(([attribute, value]) => ` ${attribute}="${value}"`), alone ? '/>' : '>');
    }
    this.open.push(name);
    if (alone) this.end(name, true);
  }

  private isNote(name: string): boolean {
    const [prefix = ''] = name.split(':', 1);
    return this.noted > 0 || (NOTES.test(name) && !this.prefixes.has(prefix));
  }

  private end(name: string, alone = false): void {
    if (this.open.pop() !== name) throw new Fault('is not a well-formed SVG');
    if (this.noted > 0) this.noted -= 1;
    else if (!alone) this.out.push(`</${name}>`);
  }

  /** The accepted attributes. A style wins over attributes, wherever it stands. */
  private attributesOf(element: string, written: string): Map<string, string> {
    const found = new Map<string, string>();
    let style = '';
    const add = (name: string, text: string): void => {
      const value = text.trim().replace(/\s+/g, ' ');
      if (/href$/i.test(name)) found.set('href', ownGradient(element, name, value));
      else if (isAccepted(name, value)) found.set(name, value);
      // Clip paths that use clip paths would make a small file expensive to draw.
      if (name === 'clip-path' && [element, ...this.open].includes('clipPath'))
        throw new Fault('has a clip path inside a clip path');
    };
    for (const [, name = '', double, single = ''] of written.matchAll(ATTRIBUTE)) {
      const value = double ?? single;
      if (name === 'style') style = value;
      else add(name, value);
    }
    for (const [property, value] of declarationsOf(style)) if (isStyled(element, property, value)) add(property, value);
    return found;
  }
}

/** The properties of a style and their values. */
function declarationsOf(style: string): (readonly [string, string])[] {
  const text = style.replace(/&(?:quot|apos);/g, "'");
  if (/[\\&]|\/\*/.test(text)) throw new Fault('has a style with an escape or a comment');
  return text
    .split(';')
    .map((declaration) => {
      const [property = '', ...value] = declaration.split(':');
      const name = property.trim().toLowerCase();
      return [name.replace(/^-(?:webkit|moz)-/, ''), value.join(':').trim()] as const;
    })
    .filter(([, value]) => value !== '');
}

/** False for a property that is left out. */
function isStyled(element: string, property: string, value: string): boolean {
  if (STYLED.has(property) || (element === 'svg' && /^(?:width|height)$/.test(property))) return true;
  if (isLost(property, value) || (GEOMETRY.test(property) && !UNCHANGED.test(value)))
    throw new Fault(`has a style with ${property}, which is not accepted`);
  return false;
}

function isLost(name: string, value: string): boolean {
  return LOST.test(name) && !UNCHANGED.test(value);
}

/** The value of a reference from one gradient of the file to another. */
function ownGradient(element: string, name: string, value: string): string {
  if (!GRADIENTS.includes(element) || !value.startsWith('#') || !ID.test(value.slice(1)))
    throw new Fault(`has the reference ${name}`);
  return value;
}

/** False for an attribute that is left out. */
function isAccepted(name: string, value: string): boolean {
  if (/^on/i.test(name)) throw new Fault(`has the event attribute ${name}`);
  if (!ATTRIBUTES.has(name)) {
    if (isLost(name, value)) throw new Fault(`has the attribute ${name}, which is not accepted`);
    return false;
  }
  // References can be to accepted ids only, so the picture needs no other id.
  if (name === 'id') return ID.test(value);
  const form = /transform$/i.test(name) ? TRANSFORM : VALUE;
  if (!REFERENCE.test(value) && (!form.test(value) || /url|var\(/i.test(value)))
    throw new Fault(`has the attribute ${name} with a value that is not accepted`);
  return true;
}

/** The attributes of the root with a size. Without one, each browser would choose another size. */
function sized(attributes: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  const given = new Map(attributes);
  const pixels = (name: string): number => Number(/^(\d+|\d*\.\d+)(?:px)?$/.exec(given.get(name) ?? '')?.[1] ?? NaN);
  const box = given.get('viewBox')?.split(/[ ,]+/).map(Number) ?? [0, 0, pixels('width'), pixels('height')];
  const [, , width = NaN, height = NaN] = box;
  if (box.length !== 4 || !box.every(isDrawable) || width <= 0 || height <= 0)
    throw new Fault('must have a viewBox, or a width and a height in pixels');
  if (width > MAX_RATIO * height || height > MAX_RATIO * width)
    throw new Fault(`must not be ${MAX_RATIO} times as long as wide`);
  for (const name of ['viewBox', 'width', 'height', 'x', 'y']) given.delete(name);
  return [
    ['xmlns', 'http://www.w3.org/2000/svg'],
    ['viewBox', box.join(' ')],
    ['width', String(Math.ceil((HEIGHT * width) / height))],
    ['height', String(HEIGHT)],
    ...given,
  ];
}

/** Browsers draw with numbers of 32 bits. */
function isDrawable(number: number): boolean {
  return Number.isFinite(Math.fround(number));
}
