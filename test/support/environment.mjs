// Jest's environment for Node, and what a worker keeps from one test file to the next: the process that runs operator commands.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

const HOST = fileURLToPath(new URL('operator-host.mjs', import.meta.url));

export default class TestEnvironment extends NodeEnvironment {
  async setup() {
    await super.setup();
    this.global.runOperatorCommand = runOperatorCommand;
  }
}

let host = null;
let commands = 0;
const waiting = new Map();

/** As if `ops` had been started with these arguments and this environment. */
function runOperatorCommand(args, env) {
  host ??= startHost();
  const id = ++commands;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    host.channel.ref();
    host.send({ id, args, env });
  });
}

function startHost() {
  const child = fork(HOST, [], { execArgv: [], env: {}, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.on('message', ({ id, ...result }) => {
    waiting.get(id).resolve(result);
    waiting.delete(id);
    if (waiting.size === 0) child.channel.unref();
  });
  child.on('exit', (code, signal) => {
    host = null;
    for (const { reject } of waiting.values())
      reject(new Error(`The operator commands' process ended: ${signal ?? code}`));
    waiting.clear();
  });
  child.unref();
  return child;
}
