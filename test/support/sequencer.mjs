// The order in which the test files run. Suites that start whole services take longest and run first. The shortest run
// last, so that no worker is left alone with a long suite.
import TestSequencer from '@jest/test-sequencer';

const LONGEST_FIRST = ['soak', 'faults', 'e2e', 'journeys', 'contract', 'projections', 'architecture', 'unit'];

export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => LONGEST_FIRST.indexOf(/\/test\/([a-z]+)\//.exec(path)?.[1]);
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
}
