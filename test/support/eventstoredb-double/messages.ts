// Between the log's records and the protocol's messages. Numbers of 64 bits travel as text, stream names as bytes.
import {
  type AppendReq,
  AppendResp,
  type BatchAppendReq,
  BatchAppendResp,
  type ReadReq,
  ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import {
  Empty,
  StreamIdentifier,
  Timeout,
  UUID,
  WrongExpectedVersion,
} from '@eventstore/db-client/generated/shared_pb.js';
import { Code } from '@eventstore/db-client/generated/code_pb.js';
import { Status } from '@eventstore/db-client/generated/status_pb.js';
import { Any } from 'google-protobuf/google/protobuf/any_pb.js';
import { Empty as GoogleEmpty } from 'google-protobuf/google/protobuf/empty_pb.js';
import type { Expected, LogRecord, Place, Proposal, Verdict } from './log.js';

/** 2024-05-06T07:08:09Z in ticks of 100 ns since 1970; the double's clock stands still. */
const CREATED_TICKS = '17149792890000000';

export function nameOf(identifier: StreamIdentifier | undefined): string {
  return Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');
}

export function identifierOf(stream: string): StreamIdentifier {
  return new StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(stream, 'utf8')));
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

/** The place a read names: exclusive or inclusive as the kind of read has it; 'start' and 'end' are not places. */
export function placeAsked(all: ReadReq.Options.AllOptions | undefined): Place | 'start' | 'end' {
  const position = all?.getPosition();
  if (position === undefined) return all?.hasEnd() ? 'end' : 'start';
  return { commit: BigInt(position.getCommitPosition()), prepare: BigInt(position.getPreparePosition()) };
}

export function appendAnswer(verdict: Verdict, expected: Expected, withPosition: boolean): AppendResp {
  if (verdict.kind === 'wrong-expected-version') {
    const wrong = new AppendResp.WrongExpectedVersion();
    if (verdict.current === null) wrong.setCurrentNoStream(new Empty());
    else wrong.setCurrentRevision(String(verdict.current));
    if (typeof expected === 'bigint') wrong.setExpectedRevision(String(expected));
    else wrong.setExpectedNoStream(new Empty());
    return new AppendResp().setWrongExpectedVersion(wrong);
  }
  const success = new AppendResp.Success().setCurrentRevision(String(verdict.revision));
  if (withPosition) {
    const offset = String(verdict.offset);
    success.setPosition(new AppendResp.Position().setCommitPosition(offset).setPreparePosition(offset));
  } else {
    success.setNoPosition(new Empty());
  }
  return new AppendResp().setSuccess(success);
}

export function batchAnswer(
  correlation: UUID | undefined,
  stream: string,
  verdict: Verdict,
  expected: Expected,
): BatchAppendResp {
  const response = new BatchAppendResp().setCorrelationId(correlation).setStreamIdentifier(identifierOf(stream));
  if (verdict.kind === 'wrong-expected-version') {
    const wrong = new WrongExpectedVersion();
    if (verdict.current === null) wrong.setCurrentNoStream(new GoogleEmpty());
    else wrong.setCurrentStreamRevision(String(verdict.current));
    if (typeof expected === 'bigint') wrong.setExpectedStreamPosition(String(expected));
    else wrong.setExpectedNoStream(new GoogleEmpty());
    return response.setError(
      statusWith('WrongExpectedVersion', wrong.serializeBinary(), 'event_store.client.WrongExpectedVersion'),
    );
  }
  const success = new BatchAppendResp.Success().setCurrentRevision(String(verdict.revision));
  success.setNoPosition(new GoogleEmpty());
  return response.setSuccess(success);
}

export function batchError(correlation: UUID | undefined, stream: string, message: string): BatchAppendResp {
  const timedOut = message === 'Timeout';
  const [bytes, type] = timedOut
    ? [new Timeout().serializeBinary(), 'event_store.client.Timeout']
    : [new GoogleEmpty().serializeBinary(), 'google.protobuf.Empty'];
  return new BatchAppendResp()
    .setCorrelationId(correlation)
    .setStreamIdentifier(identifierOf(stream))
    .setError(statusWith(message, bytes, type));
}

function statusWith(message: string, bytes: Uint8Array, type: string): Status {
  const details = new Any();
  details.pack(bytes, type);
  return new Status().setCode(Code.UNKNOWN).setMessage(message).setDetails(details);
}

export function eventMessage(record: LogRecord): ReadResp {
  const position = String(record.offset);
  const recorded = new ReadResp.ReadEvent.RecordedEvent()
    .setId(new UUID().setString(record.id))
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
  return new ReadResp().setEvent(new ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position));
}

/** -1 as an unsigned number of 64 bits, which servers before 22.6 send for what they do not know. */
const UNKNOWN_POSITION = '18446744073709551615';

export function hidePosition(message: ReadResp): void {
  const event = message.getEvent();
  event?.setNoPosition(new Empty());
  event?.getEvent()?.setCommitPosition(UNKNOWN_POSITION).setPreparePosition(UNKNOWN_POSITION);
}

export function streamNotFound(stream: string): ReadResp {
  return new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)));
}

export function confirmation(id: string): ReadResp {
  return new ReadResp().setConfirmation(new ReadResp.SubscriptionConfirmation().setSubscriptionId(id));
}

export function checkpoint(place: Place): ReadResp {
  const message = new ReadResp.Checkpoint()
    .setCommitPosition(String(place.commit))
    .setPreparePosition(String(place.prepare));
  return new ReadResp().setCheckpoint(message);
}

export function caughtUp(): ReadResp {
  return new ReadResp().setCaughtUp(new ReadResp.CaughtUp());
}

export function fellBehind(): ReadResp {
  return new ReadResp().setFellBehind(new ReadResp.FellBehind());
}
