// The listeners of the callbacks. When a listener throws or rejects, the console shows its error and the other listeners continue.
import type { CallbackName } from '../contract/callbacks.js';
import type { FrameEvent } from '../contract/messages.js';
import { callbackThrew } from './console.js';

export type Listener = (payload: never) => unknown;

export class Listeners {
  readonly #byName = new Map<CallbackName, Set<{ readonly listener: Listener }>>();

  add(name: CallbackName, listener: Listener): () => void {
    // Each call makes an entry of its own: a function that is added twice is called twice, and each call is removed separately.
    const entry = { listener };
    const entries = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, entries.add(entry));
    return () => void entries.delete(entry);
  }

  has(name: CallbackName): boolean {
    return (this.#byName.get(name)?.size ?? 0) > 0;
  }

  tell({ name, payload }: FrameEvent): void {
    const entries = this.#byName.get(name);
    if (entries === undefined) return;
    // A listener that was just removed is not called any more. A listener that was just added gets only later callbacks.
    for (const entry of [...entries]) if (entries.has(entry)) call(name, entry.listener, payload);
  }

  clear(): void {
    for (const entries of this.#byName.values()) entries.clear();
  }
}

function call(name: CallbackName, listener: Listener, payload: unknown): void {
  const shown = (error: unknown): void => callbackThrew(name, error);
  try {
    Promise.resolve(listener(payload as never)).catch(shown);
  } catch (error) {
    shown(error);
  }
}
