/** `live` reaches real vendors and money; `test` reaches the sandbox. */
export const ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
