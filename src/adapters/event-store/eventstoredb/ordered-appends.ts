// Sends appends through one call of the protocol, in exactly their order, to copy a whole log.
import { randomUUID } from 'node:crypto';
import { credentials } from '@grpc/grpc-js';
import { DeadlineExceededError, type EventStoreDBClient } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams, { type BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { EventStoreUnavailable, type StreamAppend } from '../../../ports/event-store.js';
import { encodeStorable } from '../storable.js';
import { within } from './attempts.js';

/**
 * A server executes the appends of one call in their order, and answers each when it is durable. The client's own use of that call answers wrongly
 * after errors (see ./guarded-client.ts), so this class does not use it. The call ends at the first conflict too, and the caller then reads the log.
 * `silenceMs` is the longest time between two answers.
 */
export async function appendInOrder(
  client: EventStoreDBClient,
  requests: readonly BatchAppendReq[],
  silenceMs: number,
  closed: AbortSignal,
): Promise<void> {
  const channelOverride = await within(silenceMs, closed, client['getChannel']());
  const grpc = new StreamsClient('', credentials.createInsecure(), { channelOverride });
  const call = grpc.batchAppend(...client['callArguments']({ requiresLeader: true }, { deadline: Infinity }));
  const answered = new Promise<void>((resolve, reject) => {
    let left = requests.length;
    const silence = setTimeout(() => reject(new DeadlineExceededError()), silenceMs).unref();
    call.on('error', reject);
    call.on('end', () => reject(new EventStoreUnavailable('the call ended before its answers')));
    call.on('data', (answer: BatchAppendResp) => {
      silence.refresh();
      const error = answer.getError();
      if (error?.getDetails()?.getTypeName() === 'event_store.client.WrongExpectedVersion') resolve();
      else if (error !== undefined) reject(new EventStoreUnavailable(error.getMessage()));
      else if (--left === 0) resolve();
      else if (left === requests.length - 1) for (const request of requests.slice(1)) call.write(request);
    });
    // The first request is sent alone. A server that is not ready then refuses this request, and not a later one whose successors it would store.
    for (const request of requests.slice(0, 1)) call.write(request);
  });
  try {
    await answered;
  } catch (error) {
    void client['handleError'](grpc, error as Error);
    throw error;
  } finally {
    // A server does not end a call that only the client has closed.
    call.cancel();
  }
}

export function requestOf({ stream, expected, events }: StreamAppend): BatchAppendReq {
  const identifier = new shared.StreamIdentifier().setStreamName(Buffer.from(stream));
  const options = new streams.BatchAppendReq.Options().setStreamIdentifier(identifier);
  if (expected === 'no-stream') options.setNoStream(new shared.Empty());
  else options.setStreamPosition(String(expected));
  const messages = encodeStorable(stream, expected, events).events.map(({ id, type, data, metadata }) => {
    const message = new streams.BatchAppendReq.ProposedMessage()
      .setId(new shared.UUID().setString(id))
      .setData(Buffer.from(data))
      .setCustomMetadata(Buffer.from(metadata));
    message.getMetadataMap().set('type', type).set('content-type', 'application/json');
    return message;
  });
  return new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(randomUUID()))
    .setOptions(options)
    .setProposedMessagesList(messages)
    .setIsFinal(true);
}
