import type { Manifest, SealedEvent } from './case-file.js';

export function timelineOf(manifest: Manifest, events: readonly SealedEvent[]): string;
