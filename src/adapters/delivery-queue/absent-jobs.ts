/**
 * Jobs that were put off, by endpoint, so that they can be brought back before their time. Of no more than `most`: beyond that all are
 * forgotten and come when it is their time, and so do those that another process has taken meanwhile.
 */
export class AbsentJobs {
  private readonly ids = new Map<string, Set<string>>();
  private count = 0;

  constructor(private readonly most: number) {}

  add(endpointId: string, jobId: string): void {
    if (this.count >= this.most) {
      this.ids.clear();
      this.count = 0;
    }
    let ids = this.ids.get(endpointId);
    if (ids === undefined) this.ids.set(endpointId, (ids = new Set()));
    if (ids.has(jobId)) return;
    ids.add(jobId);
    this.count++;
  }

  delete(endpointId: string, jobId: string): void {
    const ids = this.ids.get(endpointId);
    if (ids === undefined || !ids.delete(jobId)) return;
    this.count--;
    if (ids.size === 0) this.ids.delete(endpointId);
  }

  /** The first that were put off, not known any more from then on. */
  take(endpointId: string, atMost: number): string[] {
    const taken: string[] = [];
    for (const id of this.ids.get(endpointId) ?? []) {
      if (taken.length >= atMost) break;
      taken.push(id);
    }
    for (const id of taken) this.delete(endpointId, id);
    return taken;
  }
}
