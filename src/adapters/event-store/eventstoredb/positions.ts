// Positions of $all as texts that sort like the positions.
import type { Position } from '@eventstore/db-client';

/** Twenty digits can hold any number of 64 bits. */
const DIGITS = 20;
const POSITION = /^(\d{20}):(\d{20})$/u;

export function textOf(position: Position): string {
  return `${padded(position.commit)}:${padded(position.prepare)}`;
}

export function positionOf(text: string): Position {
  const [, commit, prepare] = POSITION.exec(text) ?? [];
  if (commit === undefined || prepare === undefined)
    throw new RangeError('This is not a position of this event store.');
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
}

function padded(offset: bigint): string {
  return offset.toString().padStart(DIGITS, '0');
}
