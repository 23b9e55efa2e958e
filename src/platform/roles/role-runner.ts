import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { untilNextRound } from '../../kernel/rounds.js';
import type { LogWatch } from '../audit/log-watch.js';
import type { Log } from '../observability/log.js';
import { providedBy } from '../provided.js';
import { RolePart, type RoleName, type Startable } from './role-part.js';

/** A loss of appends within this time may stay unnoticed. After an operator accepts a log, changes are accepted when this time has passed. */
const LOG_LOOKED_AT_EVERY_MS = 2_000;

/**
 * Starts the parts of this process's role, and stops them in the opposite order after the last request was answered. Workers stop together, because
 * each waits for its running work. The log is checked first. Parts that append by themselves do not begin while the log has a complaint, because lost
 * events would be sent and settled a second time.
 */
@Injectable()
export class RoleRunner implements OnApplicationShutdown {
  /** The parts in the order of their start, including parts that failed to start. */
  private readonly begun = new Set<Startable>();
  private readonly started = new Set<Startable>();
  private workers: readonly Startable[] = [];
  /** The parts that append by themselves. */
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
      // Runs even when the log has a complaint, because an operator accepts all complaints together.
      for (const part of waiting) await part.prepare?.();
      if (this.logWatch.complaint === null) await this.startAll(waiting);
    } catch (error) {
      this.log.error({ err: error }, 'the worker could not begin, and tries again');
    }
  }

  private async lookAgain(): Promise<void> {
    await this.logWatch.look();
    if (this.stopping) return;
    // The log is checked in the meantime, even if this takes long.
    void this.begin();
    this.lookLater();
  }
}
