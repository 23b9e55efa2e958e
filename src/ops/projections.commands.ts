// ops projections rebuild
import { Command, SubCommand } from 'nest-commander';
import { newId } from '../kernel/ids.js';
import { Projector } from '../platform/subscriptions/projector.js';
import { ProjectionStore } from '../ports/projection-store.js';
import { CommandGroup } from './command-group.js';
import { print, WrongInput } from './operator.js';
import { OperatorCommand } from './operator-command.js';

const LOOK_EVERY_MS = 200;

@SubCommand({
  name: 'rebuild',
  arguments: '[projection]',
  description:
    'Build one or all read models anew beside the live ones, compare, and switch over; exit code 1 when the old one differed from the log',
})
export class RebuildProjectionsCommand extends OperatorCommand {
  constructor(
    private readonly store: ProjectionStore,
    private readonly projector: Projector,
  ) {
    super();
  }

  override async run([name]: string[]): Promise<void> {
    const { projections } = this.projector;
    const chosen = projections.filter((projection) => name === undefined || projection.name === name);
    if (chosen.length === 0)
      throw new WrongInput(
        `The projection must be one of ${projections.map((projection) => projection.name).join(', ')}.`,
      );
    const request = newId();
    for (const projection of chosen) await this.store.requestRebuild(projection, request);
    // The process that holds the lease does the work: a running service, or else this one.
    this.projector.start();
    try {
      for (const projection of chosen) {
        let report = await this.store.lastReport(projection);
        while (report?.request !== request) {
          const stopped = this.projector.status().find(({ state }) => state === 'stopped');
          if (stopped)
            throw new WrongInput(
              `The projection ${stopped.projection} stands still: it cannot read an event of the log. The service's log says which.`,
            );
          await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
          report = await this.store.lastReport(projection);
        }
        print(report);
        if (report.differences?.length) process.exitCode = 1;
      }
    } finally {
      await this.projector.stop();
    }
  }
}

@Command({ name: 'projections', description: 'Read models', subCommands: [RebuildProjectionsCommand] })
export class ProjectionsCommand extends CommandGroup {}
