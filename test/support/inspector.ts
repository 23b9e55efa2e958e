// Inspects a running program of this repository through Node's inspector. The program needs no change for that.
import { once } from 'node:events';
import { WebSocket } from 'undici';
import { until } from './eventually.js';

export class Inspector {
  private readonly asked = new Map<number, (result: any) => void>();
  private questions = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data));
      this.asked.get(id)?.(result);
      this.asked.delete(id);
    });
  }

  /** Connects to a program that was started with this port in `--inspect-port`. The program does not end before the inspector is closed. */
  static async open(pid: number, port: number): Promise<Inspector> {
    process.kill(pid, 'SIGUSR1');
    const list = `http://127.0.0.1:${port}/json/list`;
    await until('the program can be inspected', async () => (await fetch(list).catch(() => null))?.ok === true);
    const [target] = (await (await fetch(list)).json()) as [{ readonly webSocketDebuggerUrl: string }];
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await once(socket, 'open');
    return new Inspector(socket);
  }

  /** Bytes of the heap that are in use after a full garbage collection. */
  async collectedHeap(): Promise<number> {
    await this.ask('HeapProfiler.collectGarbage');
    return (await this.ask('Runtime.getHeapUsage')).usedSize;
  }

  close(): void {
    this.socket.close();
  }

  private ask(method: string): Promise<any> {
    const id = ++this.questions;
    return new Promise((resolve) => {
      this.asked.set(id, resolve);
      this.socket.send(JSON.stringify({ id, method }));
    });
  }
}
