export declare function proseOf(markdown: string): string;
export declare function subjectsAfter(since: string, folder: string): readonly string[] | null;
