// Makes a missing or duplicate command handler a fatal error at boot, instead of an error at the first request.
import { Injectable, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { CommandHandler, Query, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';

const useCases = new Set<Type>();
const handled = new WeakMap<object, Type>();

/** Marks the class of a command or of a query. Every marked class must have exactly one handler among the providers. */
export function UseCase(): ClassDecorator {
  return (target) => {
    useCases.add(target as unknown as Type);
  };
}

/** Makes the class the handler of a command on the CommandBus, or of a query on the QueryBus. */
export function Handles(useCase: Type): (target: Type<ICommandHandler | IQueryHandler>) => void {
  return (target) => {
    handled.set(target, useCase);
    (useCase.prototype instanceof Query ? QueryHandler : CommandHandler)(useCase)(target);
  };
}

@Injectable()
export class UseCaseCheck implements OnApplicationBootstrap {
  constructor(private readonly discovery: DiscoveryService) {}

  onApplicationBootstrap(): void {
    const handlers = new Map<Type, string[]>();
    for (const { metatype } of this.discovery.getProviders()) {
      const useCase = metatype ? handled.get(metatype) : undefined;
      if (useCase && metatype) handlers.set(useCase, [...(handlers.get(useCase) ?? []), metatype.name]);
    }
    const faults = [...useCases].flatMap((useCase) => {
      const found = handlers.get(useCase) ?? [];
      return found.length === 1
        ? []
        : [
            `${useCase.name} has ${found.length === 0 ? 'no handler' : `${found.length} handlers (${found.join(', ')})`}`,
          ];
    });
    if (faults.length > 0) throw new Error(`Every command and query needs exactly one handler: ${faults.join('; ')}`);
  }
}
