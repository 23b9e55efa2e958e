// Jest's environment for Node. A worker keeps some processes from one test file to the next. One process runs operator
// commands, and the others run services and sandboxes. These processes have already loaded the built program, because
// loading takes longer than running a command.
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';
import { HostProcess } from './host-process.mjs';

const operatorCommands = new HostProcess('operator-host.mjs');
const services = serviceHost();
/**
 * A second process in addition to the first. Two programs on one data folder need two processes. In one process, one
 * program would not notice the changes of the other program.
 */
const besides = serviceHost();
/** Runs the services that several suites share. This process ends with the worker. */
const keepers = serviceHost();
/** Keyed by profile. */
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
  /**
   * Keyed by the authority that the services trust, because Node reads the authority when a process starts. These
   * processes end with the test file.
   */
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

  /** Ends every program that a test file left running. */
  async teardown() {
    for (const kept of shared.values()) kept.say = undefined;
    for (const host of [besides, services]) if (host.running) await host.ask({ stop: 'all' });
    for (const host of this.trusting.values()) await host.end();
    await super.teardown();
  }
}
