// Jest's environment for Node, and what a worker keeps from one test file to the next: a process that runs operator commands, and
// one in which services and sandboxes run. Both have the built program loaded, which takes longer than what is done with it.
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';
import { HostProcess } from './host-process.mjs';

const operatorCommands = new HostProcess('operator-host.mjs');
const services = serviceHost();
/** Two processes do not have one data folder open, or one would not be told what the other does. */
const besides = serviceHost();
/** In which the services run that suites share. It ends with the worker. */
const keepers = serviceHost();
/** By profile. */
const shared = new Map();

function sharedService(profile, env) {
  const kept = shared.get(profile) ?? { say: undefined };
  kept.started ??= keepers.ask({ keep: env }, (text) => kept.say?.(text));
  shared.set(profile, kept);
  return kept;
}

function serviceHost(env = {}) {
  return new HostProcess('service-host.mjs', ['--max-semi-space-size=64'], env);
}

export default class TestEnvironment extends NodeEnvironment {
  /** By the authority that its services trust, which Node reads when a process starts. They end with the test file. */
  trusting = new Map();

  async setup() {
    await super.setup();
    this.global.runOperatorCommand = (args, env) => operatorCommands.ask({ args, env });
    this.global.makeAccounts = (env) => operatorCommands.ask({ env });
    this.global.sharedService = (profile, env, say) => {
      const kept = sharedService(profile, env);
      kept.say = say;
      return kept.started;
    };
    this.global.serviceHost = {
      start: async (program, env, beside, say) => {
        const host = beside ? besides : this.hostFor(env);
        const started = await host.ask({ start: program, env }, say);
        return () => host.ask({ stop: started });
      },
      turn: async (ms) => {
        for (const host of [services, besides, ...this.trusting.values()])
          if (host.running) await host.ask({ turn: ms });
      },
    };
  }

  hostFor({ NODE_EXTRA_CA_CERTS: authority }) {
    if (authority === undefined) return services;
    if (!this.trusting.has(authority)) this.trusting.set(authority, serviceHost({ NODE_EXTRA_CA_CERTS: authority }));
    return this.trusting.get(authority);
  }

  /** Ends what a test file has left running. */
  async teardown() {
    for (const kept of shared.values()) kept.say = undefined;
    for (const host of [besides, services]) if (host.running) await host.ask({ stop: 'all' });
    for (const host of this.trusting.values()) await host.end();
    await super.teardown();
  }
}
