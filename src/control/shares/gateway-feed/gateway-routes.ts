/** `/gateway/v1/shares`: the feed as one long response per gateway. A gateway that reads too slowly is disconnected. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Clock, Log } from '#base';
import { FORMAT_HEADER } from '#base/shapes';
import { GATEWAY_FEED_HEARTBEAT_MS, gatewayFeedShape } from '#domain/gateway-shapes';
import type { GatewayCommands } from './gateway-commands.ts';
import {
  couldNotValidate,
  type CallerContext,
  queryOf,
  type PeerIdentities,
  type ProvenPeer,
} from '../../overlay/clients/mod.ts';
import type { FeedVersion, GatewayFeed } from './gateway-feed.ts';

/** In addition to the opening lines. */
const MAX_QUEUED_BYTES = 8 * 1_048_576;
const MAX_STALLED_MS = 30_000;

interface Subscriber {
  readonly peer: ProvenPeer;
  readonly response: ServerResponse;
  readonly maxQueuedBytes: number;
  /** Whether it still gets the parts of its snapshot. It gets what follows when these are sent. */
  isOpening: boolean;
  /** When the response last accepted everything. */
  flowingAtMs: number;
}

/** The gateways that follow the feed here. */
class Subscribers {
  readonly #all = new Set<Subscriber>();
  readonly #feed: GatewayFeed;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(feed: GatewayFeed, { clock, log }: Pick<CallerContext, 'clock' | 'log'>) {
    this.#feed = feed;
    this.#clock = clock;
    this.#log = log;
  }

  add(subscriber: Subscriber): void {
    const { response } = subscriber;
    response.on('drain', () => (subscriber.flowingAtMs = this.#clock.monotonicMs()));
    response.on('error', () => {});
    response.once('close', () => this.#all.delete(subscriber));
    this.#all.add(subscriber);
  }

  write(subscriber: Subscriber, text: string): void {
    const { response } = subscriber;
    if (response.write(text)) subscriber.flowingAtMs = this.#clock.monotonicMs();
    if (response.writableLength > subscriber.maxQueuedBytes)
      this.#cut(subscriber, 'the gateway reads too slowly');
  }

  /** To those that have their snapshot. */
  writeAll(text: string): void {
    for (const subscriber of this.#all) if (!subscriber.isOpening) this.write(subscriber, text);
  }

  /** Sends a command to one of them. Returns whether one takes it. */
  command(text: string): boolean {
    const subscriber = [...this.#all].find(({ isOpening }) => !isOpening);
    if (subscriber === undefined) return false;
    // The gateway subscribes again.
    this.#all.delete(subscriber);
    this.#all.add(subscriber);
    this.write(subscriber, text);
    return this.#all.has(subscriber);
  }

  /** Sends a snapshot in parts, each in a turn of the loop of its own, then what changed in the meantime. */
  async sendParts(subscriber: Subscriber): Promise<void> {
    const { response } = subscriber;
    while (this.#all.has(subscriber)) {
      this.#feed.flush();
      const { position } = this.#feed;
      for (const part of this.#feed.snapshotInParts()) {
        this.write(subscriber, part);
        if (response.writableNeedDrain && !response.destroyed)
          await Promise.race([once(response, 'drain'), once(response, 'close')]).catch(() => undefined);
        await nextTurn();
        if (!this.#all.has(subscriber)) return;
      }
      const missed = this.#feed.missedSince(position);
      // So much changed in the meantime that it gets another snapshot.
      if (missed === undefined) continue;
      subscriber.isOpening = false;
      this.write(subscriber, missed.join(''));
      return;
    }
  }

  /** Ends the streams of an identity whose certificate is no longer valid. */
  checkIdentity(peers: Pick<PeerIdentities, 'check'>, identityId: string): void {
    for (const subscriber of this.#all)
      if (subscriber.peer.identity.id === identityId) this.#checkLeaf(peers, subscriber);
  }

  checkAll(peers: Pick<PeerIdentities, 'check'>): void {
    for (const subscriber of this.#all) {
      const stalledMs = this.#clock.monotonicMs() - subscriber.flowingAtMs;
      if (subscriber.response.writableNeedDrain && stalledMs > MAX_STALLED_MS)
        this.#cut(subscriber, 'the gateway stopped reading');
      else this.#checkLeaf(peers, subscriber);
    }
  }

  close(): void {
    for (const { response } of this.#all) response.destroy();
    this.#all.clear();
  }

  #checkLeaf(peers: Pick<PeerIdentities, 'check'>, subscriber: Subscriber): void {
    if ('problem' in peers.check(subscriber.peer.leaf))
      this.#cut(subscriber, 'the certificate is no longer valid');
  }

  #cut(subscriber: Subscriber, reason: string): void {
    if (!this.#all.delete(subscriber)) return;
    this.#log.warn({ gateway: subscriber.peer.identity.id, reason }, 'share feed ended');
    subscriber.response.destroy();
  }
}

export interface GatewayStreams {
  close(): void;
}

export interface GatewayRouteOptions {
  readonly feed: GatewayFeed;
  /** Sends commands to gateways that follow the feed here. */
  readonly commands: GatewayCommands;
  readonly instanceId: string;
}

export function addGatewayRoutes(
  app: FastifyInstance,
  context: CallerContext,
  { feed, commands, instanceId }: GatewayRouteOptions,
): GatewayStreams {
  const { clock, log, model, callers } = context;
  const { peers } = callers;
  const subscribers = new Subscribers(feed, context);
  feed.listen((text) => subscribers.writeAll(text));
  commands.attach((text) => subscribers.command(text));
  model.onChange((change) => {
    if (change.type === 'identity') subscribers.checkIdentity(peers, change.id);
  });
  const timer = setInterval(() => {
    subscribers.checkAll(peers);
    feed.heartbeat();
  }, GATEWAY_FEED_HEARTBEAT_MS);
  timer.unref();

  app.get('/gateway/v1/shares', (request, reply) => {
    const peer = callers.peerOfKind(request, 'gateway');
    const query = queryOf(request);
    const since = sinceOf(query);
    const isOpening = query.get('parts') === 'true' && feed.missedSince(since) === undefined;
    const opening = isOpening ? '' : feed.opening(since).join('');
    reply.hijack();
    const response = reply.raw;
    response.writeHead(200, {
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
      [FORMAT_HEADER]: String(gatewayFeedShape.format),
      'ziti-instance-id': instanceId,
    });
    const subscriber: Subscriber = {
      peer,
      response,
      maxQueuedBytes: Buffer.byteLength(opening) + MAX_QUEUED_BYTES,
      isOpening,
      flowingAtMs: clock.monotonicMs(),
    };
    subscribers.add(subscriber);
    log.info({ gateway: peer.identity.id, address: request.ip }, 'share feed opened');
    // The heartbeat confirms the connection at once, even without news.
    if (isOpening) void subscribers.sendParts(subscriber);
    else subscribers.write(subscriber, opening === '' ? '{"type":"heartbeat"}\n' : opening);
  });

  return {
    close() {
      clearInterval(timer);
      subscribers.close();
    },
  };
}

function sinceOf(query: URLSearchParams): FeedVersion | undefined {
  const version = query.get('since');
  const epoch = query.get('epoch');
  if (version === null || epoch === null) return undefined;
  if (!/^\d{1,15}$/.test(version)) throw couldNotValidate('since is not a version');
  return { version: Number(version), epoch };
}
