import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';

/** Helpers for tests never affect live traffic. */
export function requireTestKey({ environment }: CallerContext): void {
  if (environment !== 'test') throw new DomainError('request.forbidden', { rule: 'Test helpers need a test key.' });
}
