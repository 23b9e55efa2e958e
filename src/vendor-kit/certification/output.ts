// Keeps what the process writes, because an adapter must write nothing, and the errors that no call handles.
export interface KeptOutput {
  text(): string;
  /** The kinds of the errors that no call handled. Such an error would end the service. */
  readonly errors: readonly string[];
  stop(): void;
}

const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir'] as const;

/** The output goes on to its usual place as well. */
export function keepOutput(): KeptOutput {
  const kept: string[] = [];
  const undo: (() => void)[] = [];
  const keep = <Name extends string>(object: { [Key in Name]: (...args: never[]) => unknown }, name: Name): void => {
    const original = object[name];
    object[name] = (...args: never[]) => {
      kept.push(args.map((argument: unknown) => textOf(argument)).join(' '));
      return original.apply(object, args);
    };
    undo.push(() => (object[name] = original));
  };
  for (const method of METHODS) keep(console as Record<(typeof METHODS)[number], () => void>, method);
  for (const stream of [process.stdout, process.stderr]) keep(stream as unknown as { write: () => boolean }, 'write');
  const warned = (warning: Error): void => void kept.push(warning.stack ?? warning.message);
  process.on('warning', warned);
  undo.push(() => process.off('warning', warned));
  const errors: string[] = [];
  const failed = (error: unknown): void => {
    kept.push(textOf(error));
    errors.push(error instanceof Error ? error.name : 'a rejection without an error');
  };
  process.on('unhandledRejection', failed);
  undo.push(() => process.off('unhandledRejection', failed));
  return {
    errors,
    text: () => kept.join('\n'),
    stop: () => {
      for (const restore of undo) restore();
    },
  };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof Error) return `${value.stack ?? value.message} ${textOf(Object.entries(value))}`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
