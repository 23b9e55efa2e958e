// A sender in its own process, because Node reads the trusted authorities from the environment at the start. The
// argument is the URL.
import { HttpsWebhookSender } from '../../../src/adapters/webhook-sender/https.js';

const sender = new HttpsWebhookSender({ timeoutMs: 8_000, allow: ['127.0.0.1/32'] });
const answer = await sender.send({ url: process.argv[2] ?? '', headers: {}, body: Buffer.from('{}') });
await sender.close();
process.stdout.write(JSON.stringify(answer));
