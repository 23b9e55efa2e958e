/** `live` reaches real vendors and money; `test` reaches the sandbox. */
export type Environment = 'live' | 'test';
