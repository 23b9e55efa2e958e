import type { DiscoveryService } from '@nestjs/core';

/** Returns every provider of this process that is an instance of the class, in the order of the modules. Complete when all providers are made. */
export function providedBy<Provided>(
  discovery: DiscoveryService,
  type: abstract new (...args: never[]) => Provided,
): Provided[] {
  return discovery
    .getProviders()
    .map(({ instance }) => instance as unknown)
    .filter((instance): instance is Provided => instance instanceof type);
}
