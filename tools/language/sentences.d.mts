export interface Fault {
  readonly sentence: string;
  /** The pattern's name in list.mjs, or `retired-word`, `long-sentence`, `long-subject`, `no-area`, `no-imperative`. */
  readonly name: string;
  /** How to write the sentence instead. */
  readonly instead: string;
}

export declare function faultsIn(text: string): readonly Fault[];
export declare function faultsInSubject(subject: string): readonly Fault[];
export declare function sentencesOf(text: string): readonly string[];
export declare function told(fault: Fault): string;
