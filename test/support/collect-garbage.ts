import v8 from 'node:v8';
import vm from 'node:vm';

v8.setFlagsFromString('--expose_gc');

/** Collects all garbage now. */
export const collectGarbage = vm.runInNewContext('gc') as () => void;
