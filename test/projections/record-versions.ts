// `npm run projections:versions` runs this file.
import { changedWithoutVersion, currentVersions, record, recordedVersions } from './versions.js';

const current = currentVersions();
const changed = changedWithoutVersion(recordedVersions(), current);
if (changed.length > 0) {
  process.stderr.write(
    `Raise the version of the projection first. Another output than recorded:\n${changed.join('\n')}\n`,
  );
  process.exitCode = 1;
} else record(current);
