/** Sentences for the reader. */
export interface Report {
  readonly proved: string[];
  readonly open: string[];
  readonly refused: string[];
}

export function verifyCase(
  zip: Uint8Array,
  options?: {
    readonly policy?: string | null;
    readonly log?: ((path: string) => Promise<Uint8Array | null>) | null;
  },
): Promise<Report>;

export function linesOf(report: Report): string[];
