// Invents the data of sandbox reports. The same number always gives the same data.

const DAY_MS = 86_400_000;

export class MadeUp {
  private state: number;

  /** `topic`: makes the data of one vendor differ from another's for the same number. */
  constructor(topic: string, file: number) {
    this.state = Buffer.from(`${topic}/${file}`).reduce(
      (hash, byte) => Math.imul(hash ^ byte, 16_777_619) >>> 0,
      2_166_136_261,
    );
  }

  /** A number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  oneOf<const Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.between(0, values.length - 1)] ?? values[0];
  }

  shuffled<Value>(values: readonly Value[]): Value[] {
    return values
      .map((value) => ({ value, place: this.next() }))
      .sort((one, other) => one.place - other.place)
      .map(({ value }) => value);
  }

  times<Value>(least: number, most: number, make: (index: number) => Value): Value[] {
    return Array.from({ length: this.between(least, most) }, (_, index) => make(index));
  }

  percent(chance: number): boolean {
    return this.between(1, 100) <= chance;
  }

  digits(count: number): string {
    return Array.from({ length: count }, () => String(this.between(0, 9))).join('');
  }

  /** A date before `day`, YYYY-MM-DD. */
  daysBefore(day: Date, least: number, most: number): string {
    return dateOf(new Date(day.getTime() - this.between(least, most) * DAY_MS));
  }

  /** A small random number generator (mulberry32). Never use this generator for secrets. */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}

export function dateOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
