interface Pattern {
  readonly name: string;
  readonly pattern: RegExp;
  readonly instead: string;
}

export declare const MOST_WORDS: number;
export declare const LONGEST_SUBJECT: number;
export declare const PATTERNS: readonly Pattern[];
export declare const RETIRED: readonly { readonly word: RegExp; readonly use: string }[];
export declare const FINISHED_FOLDERS: readonly string[];
export declare const FINISHED_DOCUMENTS: readonly string[];
export declare const LAST_FREE_COMMIT: string;
