// A process that runs operator commands one after another, each as if in a process of its own. The process has loaded
// the built program once. The environment of the tests starts one process for each Jest worker.
let ended;
let output = { stdout: '', stderr: '' };

process.stdout.write = (chunk) => keep('stdout', chunk);
process.stderr.write = (chunk) => keep('stderr', chunk);

/**
 * When a command calls exit, it has ended for the reader of its output. The exception stops the rest of the command's
 * code.
 */
process.exit = (code = process.exitCode) => {
  ended?.(code ?? 0);
  throw new Error('The command has exited.');
};

let commands = Promise.resolve();
process.on('message', ({ id, env, args }) => {
  commands = commands.then(async () => process.send(await answer(id, args ? run(env, args, id) : accountsBeside(env))));
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

function answer(id, work) {
  return work.then(
    (result) => ({ id, result }),
    (error) => ({ id, error: String(error?.stack ?? error) }),
  );
}

async function accountsBeside(env) {
  const { makeAccounts } = await import('./account-maker.mjs');
  return makeAccounts(env);
}

async function run(env, args, id) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, 'dist/src/ops/main.js', ...args];
  process.exitCode = undefined;
  output = { stdout: '', stderr: '', inOrder: '' };
  const told = output;
  const exited = new Promise((resolve) => (ended = resolve));
  // A new query in the module's address makes Node evaluate the module again. The modules that it imports stay loaded.
  const done = import(`../../dist/src/ops/main.js?command=${id}`).then(
    () => ended(process.exitCode ?? 0),
    (error) => {
      keep('stderr', `${error?.stack}\n`);
      ended(1);
    },
  );
  const exitCode = await exited;
  const said = { ...told };
  await done;
  process.stdout.removeAllListeners('error');
  return { exitCode, ...said };
}

function keep(stream, chunk) {
  const text = chunk.toString();
  output[stream] += text;
  output.inOrder += text;
  return true;
}
