import { Reflector } from '@nestjs/core';

/**
 * Which limits against abuse a route asks before it stores or asks a vendor, by their names in the configuration; or why it has
 * none. Every route declares it, and a test lists the routes (docs/contract/general.md#limits-against-abuse).
 */
export const Limited = Reflector.createDecorator<{ readonly by: readonly string[] } | { readonly not: string }>();
