// The progress of a generation that is being built, and the remaining time at the speed so far.

/** The share of the log up to `target` that is before a position, from 0 to 1. Null if positions are not numbers of events. */
export function shareOfLog(position: string | null, target: string | null): number | null {
  const share = target === null ? 1 : Number(position) / Number(target);
  return Number.isNaN(share) ? null : Math.min(share, 1);
}

export class BuildProgress {
  private first: { readonly share: number; readonly at: number } | null = null;

  /** `now` is in milliseconds. The seconds are null until a speed is known. */
  at(share: number, now: number): { readonly percent: number; readonly secondsLeft: number | null } {
    this.first ??= { share, at: now };
    const made = share - this.first.share;
    const secondsLeft = made > 0 ? Math.round((((1 - share) / made) * (now - this.first.at)) / 1_000) : null;
    return { percent: Math.floor(share * 100), secondsLeft };
  }
}
