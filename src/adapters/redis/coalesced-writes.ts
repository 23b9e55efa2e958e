import type { Redis } from 'ioredis';

/**
 * Lets what is sent in one turn of the event loop leave in one packet, on this connection, in the order it was sent: also what
 * different events of the turn send, such as requests that have come on several connections. Under load, a system call for each
 * command is most of what a command costs, here and in Redis; nothing waits longer for it than the end of the turn.
 */
export function coalesceWrites(redis: Redis): Redis {
  const attach = (): void => {
    const { stream } = redis;
    const write = stream.write.bind(stream);
    let holding = false;
    const release = (): void => {
      holding = false;
      stream.uncork();
    };
    const heldWrite: (...args: Parameters<typeof write>) => boolean = (...args) => {
      if (!holding) {
        holding = true;
        stream.cork();
        setImmediate(release);
      }
      return write(...args);
    };
    stream.write = heldWrite as typeof write;
  };
  // Every reconnect has a stream of its own.
  redis.on('connect', attach);
  if (redis.status === 'connect' || redis.status === 'ready') attach();
  return redis;
}
