// The end of a blue/green rebuild.
import type { Generations, ProjectionStore, RebuildReport } from '../../ports/projection-store.js';
import type { Track } from './pass.js';

/** Ids named in a report; what matters is that there are any. */
const NAMED_DIFFERENCES = 20;

/**
 * Compares the generation being built with the live one, if there is one, and makes it the live one. Both are being written at
 * the same place in the log. A difference does not stop it: the log is the truth and the new generation came from it, but it means
 * that the old one had gone wrong. Null when the lease was lost meanwhile.
 */
export async function compareAndFlip(
  store: ProjectionStore,
  track: Track,
  from: Generations,
  request: string | null,
): Promise<RebuildReport | null> {
  const { projection, generation } = track;
  let differences: readonly string[] | null = null;
  const built = await store.fingerprint(projection, generation);
  if (from.live !== null) {
    const live = await store.fingerprint(projection, from.live);
    const same =
      live.digest === built.digest &&
      live.documents === built.documents &&
      live.memberships === built.memberships &&
      live.due === built.due;
    differences = same ? [] : await store.differences(projection, from.live, generation, NAMED_DIFFERENCES);
  }
  const report: RebuildReport = {
    projection: projection.name,
    generation,
    request,
    documents: built.documents,
    digest: built.digest,
    differences,
    finishedAt: new Date().toISOString(),
  };
  if (!(await store.flip(projection, track.fence, from, report))) return null;
  await store.retireOthers(projection, { live: generation, building: null });
  return report;
}
