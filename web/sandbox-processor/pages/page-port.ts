// The frame's end of the port: passes every request of the library to its handler.
import {
  EMBEDDER_PARAMETER,
  type FrameEvent,
  type Method,
  type Methods,
  PORT_MESSAGE,
  readQuestion,
} from '../messages.js';

type Answers = {
  readonly [M in Method]?: (parameter: Methods[M][0]) => Promise<Methods[M][1]> | Methods[M][1];
};

/** Accepts one port, and only from the page that embeds this frame. */
export function listen(answers: Answers): { tell(event: FrameEvent): void } {
  const embedder = new URLSearchParams(location.search).get(EMBEDDER_PARAMETER);
  let port: MessagePort | undefined;
  const hear = async (data: unknown): Promise<void> => {
    const question = readQuestion(data);
    if (question === null || !Object.hasOwn(answers, question.method)) return;
    const answer = answers[question.method as Method] as (parameter: unknown) => unknown;
    port?.postMessage({ reply: question.question, result: await answer(question.parameter) });
  };
  globalThis.addEventListener('message', (event) => {
    const [offered] = event.ports;
    if (port !== undefined || offered === undefined || event.data !== PORT_MESSAGE) return;
    if (event.source !== globalThis.parent || event.origin !== embedder) return;
    port = offered;
    port.onmessage = ({ data }) => void hear(data);
  });
  return {
    tell(event) {
      port?.postMessage(event);
    },
  };
}
