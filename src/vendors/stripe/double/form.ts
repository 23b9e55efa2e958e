// Form-encoded parameters: `a[b]=1` nests, `a[0]=x` and `a[]=x` make lists. The caller names the allowed parameters.
import { invalid } from './errors.js';

/** Sorted, so that bodies with the same content are equal. */
export type FormEntries = readonly (readonly [name: string, value: string])[];

type Node = string | Map<string, Node>;

const NAME = /^([^[\]]+)((?:\[[^[\]]*\])*)$/;
const MAX_DEPTH = 6;
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()));

export function formEntries(body: string): FormEntries {
  return [...new URLSearchParams(body)].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

export class Parameters {
  private constructor(
    private readonly fields: ReadonlyMap<string, Node>,
    private readonly path: string,
  ) {}

  static of(entries: FormEntries): Parameters {
    const fields = new Map<string, Node>();
    for (const [name, value] of entries) {
      const [, head = '', brackets = ''] = NAME.exec(name) ?? [];
      if (head === '')
        throw invalid(name.slice(0, 100), 'parameter_unknown', 'The name of a parameter is not well-formed.');
      const rest = brackets === '' ? [] : brackets.slice(1, -1).split('][');
      if (rest.length > MAX_DEPTH) throw invalid(head, 'parameter_unknown', 'A parameter is nested too deeply.');
      put(fields, [head, ...rest], value, head);
    }
    return new Parameters(fields, '');
  }

  /** Refuses all other parameters, which reveals misspelt names. */
  only(...names: readonly string[]): this {
    for (const name of this.fields.keys()) {
      if (!names.includes(name))
        throw invalid(
          this.nameOf(name),
          'parameter_unknown',
          `Received unknown parameter: ${this.nameOf(name).slice(0, 100)}`,
        );
    }
    return this;
  }

  has(name: string): boolean {
    return this.fields.has(name);
  }

  /** In the interface, an empty value removes a field. In the sandbox an empty value counts as absent. */
  text(name: string): string | null {
    const value = this.fields.get(name);
    if (value === undefined || value === '') return null;
    if (typeof value !== 'string')
      throw invalid(this.nameOf(name), 'parameter_invalid_string', `Invalid string: ${this.nameOf(name)}`);
    return value;
  }

  requiredText(name: string): string {
    return this.text(name) ?? this.absent(name);
  }

  integer(name: string): number | null {
    const value = this.text(name);
    if (value === null) return null;
    if (!/^-?\d{1,12}$/.test(value))
      throw invalid(this.nameOf(name), 'parameter_invalid_integer', `Invalid integer: ${this.nameOf(name)}`);
    return Number(value);
  }

  requiredInteger(name: string): number {
    return this.integer(name) ?? this.absent(name);
  }

  currency(name: string): string {
    const currency = this.requiredText(name).toLowerCase();
    if (!CURRENCIES.has(currency)) throw invalid(this.nameOf(name), null, `Invalid currency: ${this.nameOf(name)}`);
    return currency;
  }

  nested(name: string): Parameters {
    const value = this.fields.get(name) ?? new Map<string, Node>();
    if (value === '') return new Parameters(new Map(), this.nameOf(name));
    if (typeof value === 'string')
      throw invalid(this.nameOf(name), 'parameter_invalid_string', `Invalid object: ${this.nameOf(name)}`);
    return new Parameters(value, this.nameOf(name));
  }

  /** The members of a list of objects. */
  each(name: string): Parameters[] {
    const list = this.nested(name);
    return [...list.fields.keys()].map((index) => list.nested(index));
  }

  /** The members of a list of strings. */
  texts(name: string): string[] {
    const list = this.nested(name);
    return [...list.fields.keys()].map((index) => list.requiredText(index));
  }

  /** Null for a value that must be removed. */
  metadata(name: string): Readonly<Record<string, string | null>> {
    const sent = this.nested(name);
    const metadata = new Map<string, string | null>();
    for (const key of sent.fields.keys()) {
      const value = sent.text(key);
      if (key.length > 40 || (value ?? '').length > 500)
        throw invalid(
          sent.nameOf(key).slice(0, 100),
          null,
          'Metadata keys have up to 40 and values up to 500 characters.',
        );
      metadata.set(key, value);
    }
    if (metadata.size > 50) throw invalid(this.nameOf(name), null, 'Metadata has up to 50 keys.');
    return Object.fromEntries(metadata);
  }

  private absent(name: string): never {
    throw invalid(this.nameOf(name), 'parameter_missing', `Missing required param: ${this.nameOf(name)}.`);
  }

  private nameOf(name: string): string {
    return this.path === '' ? name : `${this.path}[${name}]`;
  }
}

function put(fields: Map<string, Node>, [name = '', ...rest]: readonly string[], value: string, head: string): void {
  const key = name === '' ? String(fields.size) : name;
  if (rest.length === 0) {
    fields.set(key, value);
    return;
  }
  const below = fields.get(key) ?? new Map<string, Node>();
  if (typeof below === 'string') throw invalid(head, 'parameter_unknown', 'A parameter is both a value and an object.');
  fields.set(key, below);
  put(below, rest, value, head);
}
