// ops projections rebuild
import { setTimeout as pause } from 'node:timers/promises';
import { Command, SubCommand } from 'nest-commander';
import { newId } from '../kernel/ids.js';
import { BuildProgress, shareOfLog } from '../platform/subscriptions/build-progress.js';
import { Projector } from '../platform/subscriptions/projector.js';
import { EventStore } from '../ports/event-store.js';
import { type AnyProjection, ProjectionStore } from '../ports/projection-store.js';
import { CommandGroup } from './command-group.js';
import { Progress, WrongInput } from './operator.js';
import { print } from './output.js';
import { OperatorCommand } from './operator-command.js';

const LOOK_EVERY_MS = 200;

@SubCommand({
  name: 'rebuild',
  arguments: '[projection]',
  description:
    'Rebuild one or all read models beside the live ones, compare the two, and switch over; exit code 1 when an old one differed from the log',
})
export class RebuildProjectionsCommand extends OperatorCommand {
  constructor(
    private readonly store: ProjectionStore,
    private readonly projector: Projector,
    private readonly events: EventStore,
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
    // The process with the lease does the work: a running service, or else this process.
    this.projector.start();
    const tellProgress = this.tellingProgress(await this.events.head());
    try {
      for (const projection of chosen) {
        let report = await this.store.lastReport(projection);
        while (report?.request !== request) {
          const stopped = this.projector.status().find(({ state }) => state === 'stopped');
          if (stopped)
            throw new WrongInput(
              `The projection ${stopped.projection} has stopped, because it cannot read an event of the log. The service's output names the event.`,
            );
          await tellProgress(projection);
          await pause(LOOK_EVERY_MS);
          report = await this.store.lastReport(projection);
        }
        print(report);
        if (report.differences?.length) process.exitCode = 1;
      }
    } finally {
      await this.projector.stop();
    }
  }

  /** Reports the progress of a projection's build, in whichever process it runs. One pass over the log fills all projections. */
  private tellingProgress(head: string | null): (projection: AnyProjection) => Promise<void> {
    const [progress, build] = [new Progress(), new BuildProgress()];
    return async (projection) => {
      const { building } = await this.store.generations(projection);
      const checkpoint = building === null ? null : await this.store.checkpoint(projection, building);
      const share = checkpoint && shareOfLog(checkpoint.position, head);
      if (share === null) return;
      const { percent, secondsLeft } = build.at(share, performance.now());
      const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`;
      progress.told(() => `Building ${projection.name}: ${percent} % of the log read${left}.`);
    };
  }
}

@Command({ name: 'projections', description: 'Read models', subCommands: [RebuildProjectionsCommand] })
export class ProjectionsCommand extends CommandGroup {}
