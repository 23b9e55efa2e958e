import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RouteConfig } from '@nestjs/platform-fastify';

/**
 * The limits against abuse of a route, by their names in the configuration, or the reason why it has none. A route checks its limits before it stores
 * anything or calls a vendor. Every route declares its limits, and a test lists the routes (docs/contract/general.md#limits-against-abuse).
 */
export const Limited = Reflector.createDecorator<{ readonly by: readonly string[] } | { readonly not: string }>();

/** A GET without any effect needs no limit, and also answers HEAD. */
export const ReadsOnly = (route: { readonly unnoted?: true } = {}): MethodDecorator =>
  applyDecorators(Limited({ not: 'it only reads' }), RouteConfig({ readsOnly: true, ...route }));
