export interface SeccompProfile {
  readonly defaultAction: string;
  readonly archMap: readonly { readonly architecture: string; readonly subArchitectures?: readonly string[] }[];
  readonly syscalls: readonly {
    readonly names: readonly string[];
    readonly action: string;
    readonly errnoRet?: number;
    readonly args?: readonly {
      readonly index: number;
      readonly value: number;
      readonly valueTwo?: number;
      op: string;
    }[];
  }[];
}

export interface Difference {
  readonly name: string;
  readonly values: readonly number[];
  readonly whole: boolean;
}

export function allowedBy(profile: SeccompProfile): Map<string, Set<number>>;
export function beyond(ours: SeccompProfile, theirs: SeccompProfile): Difference[];
export function excess(differences: readonly Difference[]): Difference[];
