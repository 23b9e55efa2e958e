// Makes a missing or doubled command handler fatal at boot instead of a surprise at the first request.
import { Injectable, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { CommandHandler, type ICommand, type ICommandHandler } from '@nestjs/cqrs';

const commands = new Set<Type<ICommand>>();
const handled = new WeakMap<object, Type<ICommand>>();

/** Marks a command class. Every marked class must have exactly one handler among the providers. */
export function UseCase(): ClassDecorator {
  return (target) => {
    commands.add(target as unknown as Type<ICommand>);
  };
}

/** Makes the class the handler of a command on the CommandBus. */
export function Handles(command: Type<ICommand>): (target: Type<ICommandHandler>) => void {
  return (target) => {
    handled.set(target, command);
    CommandHandler(command)(target);
  };
}

@Injectable()
export class UseCaseCheck implements OnApplicationBootstrap {
  constructor(private readonly discovery: DiscoveryService) {}

  onApplicationBootstrap(): void {
    const handlers = new Map<Type<ICommand>, string[]>();
    for (const { metatype } of this.discovery.getProviders()) {
      const command = metatype ? handled.get(metatype) : undefined;
      if (command && metatype) handlers.set(command, [...(handlers.get(command) ?? []), metatype.name]);
    }
    const faults = [...commands].flatMap((command) => {
      const found = handlers.get(command) ?? [];
      return found.length === 1
        ? []
        : [
            `${command.name} has ${found.length === 0 ? 'no handler' : `${found.length} handlers (${found.join(', ')})`}`,
          ];
    });
    if (faults.length > 0) throw new Error(`Every command needs exactly one handler: ${faults.join('; ')}`);
  }
}
