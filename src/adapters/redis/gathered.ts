interface Asked<Ask, Reply> {
  readonly ask: Ask;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What is asked in one turn of the event loop is sent together: a script that answers many costs Redis and this process little more than
 * one that answers one. Either all are answered or none.
 */
export class Gathered<Ask, Reply> {
  private asked: Asked<Ask, Reply>[] = [];

  /** `send` gives a reply for each, in their order. */
  constructor(private readonly send: (asks: readonly Ask[]) => Promise<readonly Reply[]>) {}

  ask(ask: Ask): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.asked.length === 0) setImmediate(() => void this.sendAll());
      this.asked.push({ ask, resolve, reject });
    });
  }

  private async sendAll(): Promise<void> {
    const { asked } = this;
    this.asked = [];
    try {
      const replies = await this.send(asked.map(({ ask }) => ask));
      for (const [place, { resolve }] of asked.entries()) resolve(replies[place] as Reply);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
