// Translates between records of the log and messages of the protocol. Numbers of 64 bits are sent as text, stream names
// as bytes.
import streams, {
  type AppendReq,
  type AppendResp,
  type BatchAppendReq,
  type BatchAppendResp,
  type ReadReq,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import shared, { type StreamIdentifier, type UUID } from '@eventstore/db-client/generated/shared_pb.js';
import codes from '@eventstore/db-client/generated/code_pb.js';
import statuses, { type Status } from '@eventstore/db-client/generated/status_pb.js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import google from 'google-protobuf/google/protobuf/empty_pb.js';
import type { Expected, LogRecord, Place, Proposal, Verdict } from './log.js';

/** 2024-05-06T07:08:09Z in ticks of 100 ns since 1970. The double's clock does not move. */
const CREATED_TICKS = '17149792890000000';

export function nameOf(identifier: StreamIdentifier | undefined): string {
  return Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');
}

export function identifierOf(stream: string): StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(stream, 'utf8')));
}

export function proposalOf(message: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage): Proposal {
  const described = message.getMetadataMap();
  return {
    id: message.getId()?.getString() ?? '',
    type: described.get('type') ?? '',
    contentType: described.get('content-type') ?? '',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

export function expectedOfAppend(options: AppendReq.Options): Expected {
  if (options.hasNoStream()) return 'no-stream';
  if (options.hasAny()) return 'any';
  if (options.hasStreamExists()) return 'stream-exists';
  return BigInt(options.getRevision());
}

export function expectedOfBatch(options: BatchAppendReq.Options): Expected {
  if (options.hasNoStream()) return 'no-stream';
  if (options.hasAny()) return 'any';
  if (options.hasStreamExists()) return 'stream-exists';
  return BigInt(options.getStreamPosition());
}

/**
 * The position that a read names. The kind of read decides whether it includes the position itself. 'start' and 'end'
 * are not positions.
 */
export function placeAsked(all: ReadReq.Options.AllOptions | undefined): Place | 'start' | 'end' {
  const position = all?.getPosition();
  if (position === undefined) return all?.hasEnd() ? 'end' : 'start';
  return { commit: BigInt(position.getCommitPosition()), prepare: BigInt(position.getPreparePosition()) };
}

export function appendAnswer(verdict: Verdict, expected: Expected, withPosition: boolean): AppendResp {
  if (verdict.kind === 'wrong-expected-version') {
    const wrong = new streams.AppendResp.WrongExpectedVersion();
    if (verdict.current === null) wrong.setCurrentNoStream(new shared.Empty());
    else wrong.setCurrentRevision(String(verdict.current));
    if (typeof expected === 'bigint') wrong.setExpectedRevision(String(expected));
    else wrong.setExpectedNoStream(new shared.Empty());
    return new streams.AppendResp().setWrongExpectedVersion(wrong);
  }
  const success = new streams.AppendResp.Success().setCurrentRevision(String(verdict.revision));
  if (withPosition) {
    const offset = String(verdict.offset);
    success.setPosition(new streams.AppendResp.Position().setCommitPosition(offset).setPreparePosition(offset));
  } else {
    success.setNoPosition(new shared.Empty());
  }
  return new streams.AppendResp().setSuccess(success);
}

export function batchAnswer(
  correlation: UUID | undefined,
  stream: string,
  verdict: Verdict,
  expected: Expected,
): BatchAppendResp {
  const response = new streams.BatchAppendResp()
    .setCorrelationId(correlation)
    .setStreamIdentifier(identifierOf(stream));
  if (verdict.kind === 'wrong-expected-version') {
    const wrong = new shared.WrongExpectedVersion();
    if (verdict.current === null) wrong.setCurrentNoStream(new google.Empty());
    else wrong.setCurrentStreamRevision(String(verdict.current));
    if (typeof expected === 'bigint') wrong.setExpectedStreamPosition(String(expected));
    else wrong.setExpectedNoStream(new google.Empty());
    return response.setError(
      statusWith('WrongExpectedVersion', wrong.serializeBinary(), 'event_store.client.WrongExpectedVersion'),
    );
  }
  const success = new streams.BatchAppendResp.Success().setCurrentRevision(String(verdict.revision));
  success.setNoPosition(new google.Empty());
  return response.setSuccess(success);
}

export function batchError(correlation: UUID | undefined, stream: string, message: string): BatchAppendResp {
  const timedOut = message === 'Timeout';
  const [bytes, type] = timedOut
    ? [new shared.Timeout().serializeBinary(), 'event_store.client.Timeout']
    : [new google.Empty().serializeBinary(), 'google.protobuf.Empty'];
  return new streams.BatchAppendResp()
    .setCorrelationId(correlation)
    .setStreamIdentifier(identifierOf(stream))
    .setError(statusWith(message, bytes, type));
}

function statusWith(message: string, bytes: Uint8Array, type: string): Status {
  const details = new any.Any();
  details.pack(bytes, type);
  return new statuses.Status().setCode(codes.Code.UNKNOWN).setMessage(message).setDetails(details);
}

export function eventMessage(record: LogRecord): ReadResp {
  const position = String(record.offset);
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(record.id))
    .setStreamIdentifier(identifierOf(record.stream))
    .setStreamRevision(String(record.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(record.data)
    .setCustomMetadata(record.metadata);
  recorded
    .getMetadataMap()
    .set('type', record.type)
    .set('content-type', record.contentType)
    .set('created', CREATED_TICKS);
  return new streams.ReadResp().setEvent(
    new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position),
  );
}

/** -1 as an unsigned number of 64 bits. Servers before 22.6 send this number for unknown values. */
const UNKNOWN_POSITION = '18446744073709551615';

export function hidePosition(message: ReadResp): void {
  const event = message.getEvent();
  event?.setNoPosition(new shared.Empty());
  event?.getEvent()?.setCommitPosition(UNKNOWN_POSITION).setPreparePosition(UNKNOWN_POSITION);
}

export function streamNotFound(stream: string): ReadResp {
  return new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)),
  );
}

export function confirmation(id: string): ReadResp {
  return new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(id));
}

export function checkpoint(place: Place): ReadResp {
  const message = new streams.ReadResp.Checkpoint()
    .setCommitPosition(String(place.commit))
    .setPreparePosition(String(place.prepare));
  return new streams.ReadResp().setCheckpoint(message);
}

export function caughtUp(): ReadResp {
  return new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());
}

export function fellBehind(): ReadResp {
  return new streams.ReadResp().setFellBehind(new streams.ReadResp.FellBehind());
}
