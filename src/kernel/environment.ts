/** `live` uses real vendors and money; `test` uses the sandbox. */
export const ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
