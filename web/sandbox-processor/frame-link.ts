// A frame of the sandbox in the page, and the port to the frame. No other window has an end of that port.
import {
  EMBEDDER_PARAMETER,
  type FrameEvent,
  type Method,
  type Methods,
  PORT_MESSAGE,
  readFrameEvent,
  readReply,
} from './messages.js';

export class FrameLink {
  private readonly port: MessagePort;
  private readonly waiting = new Map<number, { settle: (result: unknown) => void; cutOff: () => void }>();
  private asked = 0;

  /** Puts the frame into `container`. The frame loads from `origin`. */
  constructor(
    readonly frame: HTMLIFrameElement,
    origin: string,
    page: string,
    container: Element,
    onEvent: (event: FrameEvent) => void,
  ) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    port1.onmessage = ({ data }) => {
      const event = readFrameEvent(data);
      if (event !== null) return onEvent(event);
      const reply = readReply(data);
      const question = reply && this.waiting.get(reply.reply);
      if (!reply || !question) return;
      this.waiting.delete(reply.reply);
      question.settle(reply.result);
    };
    const greet = (): void => {
      frame.contentWindow?.postMessage(PORT_MESSAGE, origin, [port2]);
    };
    frame.addEventListener('load', greet, { once: true });
    const address = new URL(`/browser/${page}`, origin);
    address.searchParams.set(EMBEDDER_PARAMETER, globalThis.origin);
    frame.src = address.href;
    container.append(frame);
  }

  /** The port keeps requests until the frame listens. Rejects if the frame is removed in the meantime. */
  ask<M extends Method>(method: M, parameter: Methods[M][0]): Promise<Methods[M][1]> {
    return new Promise((resolve, reject) => {
      const question = ++this.asked;
      this.waiting.set(question, {
        // Only the frame that the sandbox served has the other end.
        settle: (result) => resolve(result as Methods[M][1]),
        cutOff: () => reject(new Error('The frame was removed.')),
      });
      this.port.postMessage({ question, method, parameter });
    });
  }

  close(): void {
    this.port.close();
    this.frame.remove();
    for (const { cutOff } of this.waiting.values()) cutOff();
    this.waiting.clear();
  }
}

/** Uses no inline style attributes, because the policies of pages forbid them. */
export function newFrame(title: string, style: Readonly<Record<string, string>>): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.title = title;
  for (const [property, value] of Object.entries({ border: '0', width: '100%', display: 'block', ...style }))
    frame.style.setProperty(property, value);
  return frame;
}
