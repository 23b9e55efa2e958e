// The declarations of a feature module other than its providers: decorators of the module class, which are read through Nest's DiscoveryService.
import type { Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { EventHandler } from '../../ports/event-handler.js';
import type { AnyProjection } from '../../ports/projection-store.js';
import type { Publisher } from '../../published/events.js';

/** The read models of the module. */
export const Projections = DiscoveryService.createDecorator<readonly AnyProjection[]>();

/** The translation of the module's events for account holders. */
export const Publishers = DiscoveryService.createDecorator<readonly Publisher[]>();

/** The providers of the module that workers call with the events of the log. */
export const EventHandlers = DiscoveryService.createDecorator<readonly Type<EventHandler>[]>();

type Declaration<Declared> = ReturnType<typeof DiscoveryService.createDecorator<readonly Declared[]>>;

/** All declarations of one kind by the modules of this process. Complete before any provider is made. */
export function declaredIn<Declared>(discovery: DiscoveryService, declaration: Declaration<Declared>): Declared[] {
  const classes = new Set(discovery.getProviders().map(({ metatype }) => metatype));
  return [...classes].flatMap((metatype) => (metatype ? declaredBy(metatype, declaration) : []));
}

export function declaredBy<Declared>(module: object, { KEY }: Declaration<Declared>): readonly Declared[] {
  return (Reflect.getMetadata(KEY, module) as readonly Declared[] | undefined) ?? [];
}
