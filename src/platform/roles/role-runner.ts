import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { untilNextRound } from '../../kernel/rounds.js';
import type { LogWatch } from '../audit/log-watch.js';
import type { Log } from '../observability/log.js';
import { providedBy } from '../provided.js';
import { RolePart, type RoleName, type Startable } from './role-part.js';

/** How much of the log's newest part could be lost unnoticed, and how soon changes are taken after an operator accepted the log. */
const LOG_LOOKED_AT_EVERY_MS = 2_000;

/**
 * Starts what the role of this process runs, and stops it in the opposite order once the last request was answered: the workers
 * together, because each waits for what it has under way. The log is looked at first. What appends by itself does not begin while it
 * is not what it was: events that were lost would be sent and settled a second time.
 */
@Injectable()
export class RoleRunner implements OnApplicationShutdown {
  /** In the order of their start: also what has begun and could not start. */
  private readonly begun = new Set<Startable>();
  private readonly started = new Set<Startable>();
  private workers: readonly Startable[] = [];
  /** Which append by themselves. */
  private appending: readonly Startable[] = [];
  private watching: NodeJS.Timeout | undefined;
  private stopping = false;
  private beginning: Promise<void> | null = null;

  constructor(
    private readonly roles: ReadonlySet<RoleName>,
    private readonly discovery: DiscoveryService,
    private readonly logWatch: LogWatch,
    private readonly log: Log,
  ) {}

  async start(): Promise<void> {
    this.workers = this.partsOf('worker');
    const api = this.partsOf('api');
    await this.startAll(this.partsOf('every-role'));
    await this.logWatch.look();
    this.lookLater();
    await this.startAll(this.partsOf('projector'));
    if (this.logWatch.complaint === null) await this.startAll(api);
    this.appending = [...api, ...this.workers];
    await this.begin();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.watching);
    await this.beginning;
    const { workers } = this;
    const stopping = [...this.begun].reverse();
    await Promise.all(stopping.filter((part) => workers.includes(part)).map(async (part) => part.stop?.()));
    for (const part of stopping) if (!workers.includes(part)) await part.stop?.();
  }

  private lookLater(): void {
    this.watching = setTimeout(() => void this.lookAgain(), untilNextRound(LOG_LOOKED_AT_EVERY_MS));
  }

  private partsOf(role: RoleName): Startable[] {
    if (!this.roles.has(role)) return [];
    return providedBy(this.discovery, RolePart)
      .filter((part) => part.role === role)
      .map(({ runs }) => runs);
  }

  private async startAll(parts: readonly Startable[]): Promise<void> {
    for (const part of parts) {
      this.begun.add(part);
      await part.start();
      this.started.add(part);
    }
  }

  private begin(): Promise<void> {
    return (this.beginning ??= this.startAppending().finally(() => (this.beginning = null)));
  }

  private async startAppending(): Promise<void> {
    const waiting = this.appending.filter((part) => !this.started.has(part));
    if (waiting.length === 0) return;
    try {
      // Also while there is a complaint: what they tell is accepted together with it.
      for (const part of waiting) await part.prepare?.();
      if (this.logWatch.complaint === null) await this.startAll(waiting);
    } catch (error) {
      this.log.error({ err: error }, 'the worker could not begin, and tries again');
    }
  }

  private async lookAgain(): Promise<void> {
    await this.logWatch.look();
    if (this.stopping) return;
    // However long that takes, the log is looked at meanwhile.
    void this.begin();
    this.lookLater();
  }
}
