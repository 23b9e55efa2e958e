// The order in which the test files run. Suites that start whole services take longest and run first. Among them, suites with a browser need the
// processor and the others mostly wait, so the two kinds alternate. The shortest run last, so that no worker is left alone with a long suite.
import TestSequencer from '@jest/test-sequencer';

const LONGEST_FIRST = ['soak', 'faults', 'e2e', 'journeys', 'contract', 'projections', 'architecture', 'unit'];
const WITH_BROWSER = /\/test\/(?:e2e\/(?:embedded|documents)|journeys\/demo-page|contract\/pdf-renderer)/;

export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => LONGEST_FIRST.indexOf(/\/test\/([a-z]+)\//.exec(path)?.[1]);
    const sorted = super.sort(tests).sort((one, other) => rank(one) - rank(other));
    const browsers = sorted.filter(({ path }) => WITH_BROWSER.test(path));
    const services = sorted.filter(
      (test) => !browsers.includes(test) && rank(test) <= LONGEST_FIRST.indexOf('journeys'),
    );
    const others = sorted.filter((test) => !browsers.includes(test) && !services.includes(test));
    return [...alternating(browsers, services), ...others];
  }
}

/** Both lists in their order, each spread evenly over the result. */
function alternating(...lists) {
  const places = lists.flatMap((list) => list.map((item, index) => ({ item, at: index / list.length })));
  return places.sort((one, other) => one.at - other.at).map(({ item }) => item);
}
