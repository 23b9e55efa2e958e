// Jest's environment for Node, and what a worker keeps from one test file to the next: a process that runs operator commands, and
// one in which services and sandboxes run. Both have the built program loaded, which takes longer than what is done with it.
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';
import { HostProcess } from './host-process.mjs';

const operatorCommands = new HostProcess('operator-host.mjs');
const services = new HostProcess('service-host.mjs', ['--max-semi-space-size=64']);

export default class TestEnvironment extends NodeEnvironment {
  async setup() {
    await super.setup();
    this.global.runOperatorCommand = (args, env) => operatorCommands.ask({ args, env });
    this.global.serviceHost = {
      start: (program, env, say) => services.ask({ start: program, env }, say),
      stop: (running) => services.ask({ stop: running }),
    };
  }

  /** Ends what a test file has left running. */
  async teardown() {
    if (services.running) await services.ask({ stop: 'all' });
    await super.teardown();
  }
}
