// A double of an EventStoreDB node in this process. The double serves the parts of the wire protocol that the adapter
// and its client use, over an in-memory log, with faults. The double proves only that the adapter fits our
// understanding of the protocol. The same contract suite also runs against a real cluster.
import { randomUUID } from 'node:crypto';
import {
  type Metadata,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  Server,
  ServerCredentials,
  type StatusObject,
} from '@grpc/grpc-js';
import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features, { type SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import { type Fault, Faults, type Method, notLeader } from './faults.js';
import { type Expected, isAfter, Log, type LogRecord, placeOf, type Proposal, type Verdict } from './log.js';
import * as wire from './messages.js';
import { type ReadCall, roomToWrite, Subscription } from './subscription.js';

export interface DoubleOptions {
  /** The default is 0, which selects a free port. */
  readonly port?: number;
  /** A log that this node shares with another node of the same cluster. */
  readonly log?: Log;
  readonly credentials?: ServerCredentials;
}

const portsGiven = new Set<number>();

/** One append as it arrived, successful or not. */
export interface ReceivedAppend {
  readonly stream: string;
  readonly expected: Expected;
  readonly ids: readonly string[];
  readonly requiresLeader: boolean;
}

export class EventStoreDbDouble {
  readonly faults = new Faults();
  readonly log: Log;
  /** Calls that arrived, by method. */
  readonly calls: Record<Method, number> = {
    append: 0,
    'batch-append': 0,
    read: 0,
    subscribe: 0,
    gossip: 0,
    'server-features': 0,
  };
  readonly appends: ReceivedAppend[] = [];
  /** The credentials of the calls on streams. A call without credentials counts as ''. */
  readonly authorizations = new Set<string>();
  checkpointsSent = 0;
  /** The clients that called, by method and by the name that each client uses. */
  readonly clients: Record<Method, Set<string>> = {
    append: new Set(),
    'batch-append': new Set(),
    read: new Set(),
    subscribe: new Set(),
    gossip: new Set(),
    'server-features': new Set(),
  };
  port = 0;
  /** Every node of the cluster, including this node. The first node is the leader. */
  cluster: readonly EventStoreDbDouble[] = [this];
  muted = false;
  sendsCaughtUp = true;
  /** Behaves like servers before 22.6: events that are read from a stream have no position. */
  hidesStreamPositions = false;
  readonly #server = new Server();
  readonly #subscriptions = new Set<ReadCall>();

  private constructor(log: Log) {
    this.log = log;
  }

  static async start(options: DoubleOptions = {}): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble(options.log ?? new Log());
    await double.#listen(options.port ?? 0, options.credentials ?? ServerCredentials.createInsecure());
    return double;
  }

  get connectionString(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  get openSubscriptions(): number {
    return this.#subscriptions.size;
  }

  /** Writes to the log directly, like the server itself or another program. */
  write(stream: string, ...records: readonly Partial<Proposal>[]): void {
    const empty = {
      type: 'Foreign',
      contentType: 'application/json',
      data: Buffer.from('{}'),
      metadata: Buffer.from('{}'),
    };
    this.log.append(
      stream,
      'any',
      records.map((record) => ({ ...empty, id: randomUUID(), ...record })),
    );
  }

  dropSubscriptions(how: 'end' | StatusObject): void {
    for (const call of this.#subscriptions) {
      if (how === 'end') call.end();
      else call.emit('error', how);
    }
    this.#subscriptions.clear();
    this.log.wakeAll();
  }

  /** Breaks every connection and refuses new connections. */
  async stop(): Promise<void> {
    this.#server.forceShutdown();
    this.#subscriptions.clear();
    this.log.wakeAll();
    await Promise.resolve();
  }

  async #listen(port: number, credentials: ServerCredentials): Promise<void> {
    this.#server.addService(StreamsService, {
      read: (call: ReadCall) => void this.#read(call),
      append: (call: ServerReadableStream<AppendReq, AppendResp>, reply: sendUnaryData<AppendResp>) =>
        this.#append(call, reply),
      batchAppend: (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => this.#batchAppend(call),
    });
    this.#server.addService(GossipService, {
      read: (_call: unknown, reply: sendUnaryData<ClusterInfo>) => this.#gossip(reply),
    });
    this.#server.addService(ServerFeaturesService, {
      getSupportedMethods: (_call: unknown, reply: sendUnaryData<SupportedMethods>) => this.#features(reply),
    });
    this.port = await this.#bind(port, credentials);
    // A second double never gets the port of an earlier double, because the client library remembers the broken
    // connections to that port.
    while (port === 0 && portsGiven.has(this.port)) {
      this.#server.unbind(`127.0.0.1:${this.port}`);
      this.port = await this.#bind(port, credentials);
    }
    portsGiven.add(this.port);
  }

  #bind(port: number, credentials: ServerCredentials): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
  }

  #next(method: Method, metadata?: Metadata): Fault | undefined {
    this.calls[method]++;
    if (metadata !== undefined) {
      this.authorizations.add(String(metadata.get('authorization')[0] ?? ''));
      this.clients[method].add(String(metadata.get('connection-name')[0]));
    }
    return this.faults.next(method);
  }

  #append(call: ServerReadableStream<AppendReq, AppendResp>, reply: sendUnaryData<AppendResp>): void {
    let options: AppendReq.Options | undefined;
    const proposals: Proposal[] = [];
    call.on('data', (request: AppendReq) => {
      options ??= request.getOptions();
      const message = request.getProposedMessage();
      if (message !== undefined) proposals.push(wire.proposalOf(message));
    });
    call.on('end', () => {
      if (options === undefined) return;
      const stream = wire.nameOf(options.getStreamIdentifier());
      const expected = wire.expectedOfAppend(options);
      const requiresLeader = call.metadata.get('requires-leader').length > 0;
      this.appends.push({ stream, expected, ids: proposals.map(({ id }) => id), requiresLeader });
      const leader = this.cluster[0] ?? this;
      const fault = this.#next('append', call.metadata);
      const refusal =
        statusOf(fault) ?? (requiresLeader && leader !== this ? notLeader('127.0.0.1', leader.port) : undefined);
      if (refusal !== undefined && !storesAnyway(fault)) return reply(refusal);
      if (fault?.kind === 'swallow' && !fault.stored) return;
      const verdict = this.log.append(stream, expected, proposals);
      if (refusal !== undefined) return reply(refusal);
      if (fault?.kind === 'swallow') return;
      const send = (): void => reply(null, wire.appendAnswer(verdict, expected, fault?.kind !== 'no-position'));
      if (fault?.kind === 'delay') void fault.until.then(send);
      else send();
    });
  }

  #batchAppend(call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void {
    const pending = new Map<string, { options: BatchAppendReq.Options; proposals: Proposal[] }>();
    call.on('data', (request: BatchAppendReq) => {
      const correlation = request.getCorrelationId();
      const key = correlation?.getString() ?? '';
      const options = request.getOptions();
      if (options !== undefined) pending.set(key, { options, proposals: [] });
      const batch = pending.get(key);
      batch?.proposals.push(...request.getProposedMessagesList().map(wire.proposalOf));
      if (batch === undefined || !request.getIsFinal()) return;
      pending.delete(key);
      const fault = this.#next('batch-append', call.metadata);
      const stream = wire.nameOf(batch.options.getStreamIdentifier());
      const expected = wire.expectedOfBatch(batch.options);
      const send = (response: BatchAppendResp): unknown => call.write(response);
      const store = (): Verdict => this.log.append(stream, expected, batch.proposals);
      if (fault?.kind === 'error') {
        if (fault.stored) store();
        // The server reports its own refusals inside the stream. Only a broken stream has a status of its own.
        const inside = fault.status.details.startsWith('Server Is') || fault.status.details === 'Timeout';
        if (inside) send(wire.batchError(correlation, stream, fault.status.details));
        else call.emit('error', fault.status);
      } else if (fault?.kind === 'not-leader') {
        call.emit('error', notLeader(fault.host, fault.port));
      } else if (fault?.kind === 'swallow') {
        if (fault.stored) store();
      } else {
        const response = wire.batchAnswer(correlation, stream, store(), expected);
        if (fault?.kind === 'delay') void fault.until.then(() => send(response));
        else send(response);
      }
    });
    call.on('end', () => call.end());
  }

  async #read(call: ReadCall): Promise<void> {
    const options = call.request.getOptions();
    const subscribes = options?.hasSubscription() === true;
    const fault = this.#next(subscribes ? 'subscribe' : 'read', call.metadata);
    const leader = this.cluster[0] ?? this;
    const misplaced = call.metadata.get('requires-leader').length > 0 && leader !== this;
    const refusal = statusOf(fault) ?? (misplaced ? notLeader('127.0.0.1', leader.port) : undefined);
    if (refusal !== undefined) {
      call.emit('error', refusal);
      return;
    }
    if (fault?.kind === 'end') call.end();
    if (fault?.kind === 'delay') await fault.until;
    if (fault?.kind === 'end' || fault?.kind === 'swallow' || call.cancelled) return;
    if (!subscribes) return this.#readOnce(call);
    this.#subscriptions.add(call);
    call.once('cancelled', () => {
      this.#subscriptions.delete(call);
      this.log.wakeAll();
    });
    const subscription = new Subscription(call, this.log, {
      muted: () => this.muted || !this.#subscriptions.has(call),
      sendsCaughtUp: () => this.sendsCaughtUp,
      onCheckpoint: () => {
        this.checkpointsSent++;
      },
    });
    await subscription.run(randomUUID());
  }

  async #readOnce(call: ReadCall): Promise<void> {
    const options = call.request.getOptions();
    const byStream = options?.getStream();
    const backwards = options?.getReadDirection() === 1;
    const count = Number(options?.getCount());
    let found: readonly LogRecord[];
    if (byStream === undefined) {
      const place = wire.placeAsked(options?.getAll());
      const after = (record: LogRecord): boolean =>
        place === 'start' || (place !== 'end' && !isAfter(place, placeOf(record)));
      found = this.log.records.filter((record) => (place === 'end' ? backwards : after(record) !== backwards));
    } else {
      const name = wire.nameOf(byStream.getStreamIdentifier());
      const stored = this.log.stream(name);
      if (stored === undefined) {
        call.write(wire.streamNotFound(name));
        call.end();
        return;
      }
      const from = byStream.hasRevision()
        ? BigInt(byStream.getRevision())
        : byStream.hasEnd()
          ? BigInt(stored.length)
          : 0n;
      found = stored.filter(({ revision }) => (backwards ? BigInt(revision) <= from : BigInt(revision) >= from));
    }
    for (const record of backwards ? found.slice(-count).reverse() : found.slice(0, count)) {
      const message = wire.eventMessage(record);
      if (byStream !== undefined && this.hidesStreamPositions) wire.hidePosition(message);
      if (call.cancelled) return;
      if (!call.write(message)) await roomToWrite(call);
    }
    call.end();
  }

  #gossip(reply: sendUnaryData<ClusterInfo>): void {
    const fault = this.#next('gossip');
    const refusal = statusOf(fault);
    if (refusal !== undefined) return reply(refusal);
    if (fault?.kind === 'swallow') return;
    const members = this.cluster.map((node, index) =>
      new gossip.MemberInfo()
        .setInstanceId(new shared.UUID().setString(randomUUID()))
        .setTimeStamp('0')
        .setState(index === 0 ? gossip.MemberInfo.VNodeState.LEADER : gossip.MemberInfo.VNodeState.FOLLOWER)
        .setIsAlive(true)
        .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(node.port)),
    );
    const send = (): void => reply(null, new gossip.ClusterInfo().setMembersList(members));
    if (fault?.kind === 'delay') void fault.until.then(send);
    else send();
  }

  #features(reply: sendUnaryData<SupportedMethods>): void {
    const fault = this.#next('server-features');
    const refusal = statusOf(fault);
    if (refusal !== undefined) return reply(refusal);
    if (fault?.kind === 'swallow') return;
    const methods = ['read', 'append', 'batchappend', 'delete', 'tombstone'].map((name) =>
      new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
    );
    reply(null, new features.SupportedMethods().setEventStoreServerVersion('23.10.0').setMethodsList(methods));
  }
}

function statusOf(fault: Fault | undefined): StatusObject | undefined {
  if (fault?.kind === 'error') return fault.status;
  return fault?.kind === 'not-leader' ? notLeader(fault.host, fault.port) : undefined;
}

function storesAnyway(fault: Fault | undefined): boolean {
  return fault?.kind === 'error' && fault.stored;
}
