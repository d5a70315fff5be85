/** `/gateway/v1/shares`: the feed as one long response per gateway. A gateway that reads too slowly is disconnected. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { FORMAT_HEADER } from '#base';
import { GATEWAY_FEED_HEARTBEAT_MS, gatewayFeedShape } from '#domain';
import { couldNotValidate } from './edge-answer.ts';
import { peerOfKind, queryOf, type EdgeApiContext } from './edge-context.ts';
import type { FeedVersion, GatewayFeed } from './gateway-feed.ts';
import type { ProvenPeer } from './peer-identity.ts';

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

export interface GatewayStreams {
  close(): void;
}

export function addGatewayRoutes(
  app: FastifyInstance,
  context: EdgeApiContext,
  feed: GatewayFeed,
): GatewayStreams {
  const { clock, log, model, peers } = context;
  const subscribers = new Set<Subscriber>();

  function cut(subscriber: Subscriber, reason: string): void {
    if (!subscribers.delete(subscriber)) return;
    log.warn({ gateway: subscriber.peer.identity.id, reason }, 'share feed ended');
    subscriber.response.destroy();
  }

  function write(subscriber: Subscriber, text: string): void {
    const { response } = subscriber;
    if (response.write(text)) subscriber.flowingAtMs = clock.monotonicMs();
    if (response.writableLength > subscriber.maxQueuedBytes) cut(subscriber, 'the gateway reads too slowly');
  }

  feed.listen((text) => {
    for (const subscriber of subscribers) if (!subscriber.isOpening) write(subscriber, text);
  });
  context.gatewayCommands.attach((text) => {
    const subscriber = [...subscribers].find(({ isOpening }) => !isOpening);
    if (subscriber === undefined) return false;
    // The gateway subscribes again.
    subscribers.delete(subscriber);
    subscribers.add(subscriber);
    write(subscriber, text);
    return subscribers.has(subscriber);
  });
  /** Sends a snapshot in parts, each in a turn of the loop of its own, then what changed meanwhile. */
  async function sendParts(subscriber: Subscriber): Promise<void> {
    const { response } = subscriber;
    while (subscribers.has(subscriber)) {
      feed.flush();
      const { position } = feed;
      for (const part of feed.snapshotInParts()) {
        write(subscriber, part);
        if (response.writableNeedDrain && !response.destroyed)
          await Promise.race([once(response, 'drain'), once(response, 'close')]).catch(() => undefined);
        await nextTurn();
        if (!subscribers.has(subscriber)) return;
      }
      const missed = feed.missedSince(position);
      // So much changed meanwhile that it gets another snapshot.
      if (missed === undefined) continue;
      subscriber.isOpening = false;
      write(subscriber, missed.join(''));
      return;
    }
  }

  model.onChange((change) => {
    if (change.type !== 'identity') return;
    for (const subscriber of subscribers) {
      if (subscriber.peer.identity.id !== change.id) continue;
      if ('problem' in peers.check(subscriber.peer.leaf))
        cut(subscriber, 'the certificate is not valid any more');
    }
  });
  const timer = setInterval(() => {
    for (const subscriber of subscribers) {
      const stalledMs = clock.monotonicMs() - subscriber.flowingAtMs;
      if (subscriber.response.writableNeedDrain && stalledMs > MAX_STALLED_MS)
        cut(subscriber, 'the gateway stopped reading');
      else if ('problem' in peers.check(subscriber.peer.leaf))
        cut(subscriber, 'the certificate is not valid any more');
    }
    feed.heartbeat();
  }, GATEWAY_FEED_HEARTBEAT_MS);
  timer.unref();

  app.get('/gateway/v1/shares', (request, reply) => {
    const peer = peerOfKind(context, request, 'gateway');
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
      'ziti-instance-id': context.instanceId,
    });
    const subscriber: Subscriber = {
      peer,
      response,
      maxQueuedBytes: Buffer.byteLength(opening) + MAX_QUEUED_BYTES,
      isOpening,
      flowingAtMs: clock.monotonicMs(),
    };
    response.on('drain', () => (subscriber.flowingAtMs = clock.monotonicMs()));
    response.on('error', () => {});
    response.once('close', () => subscribers.delete(subscriber));
    subscribers.add(subscriber);
    log.info({ gateway: peer.identity.id, address: request.ip }, 'share feed opened');
    // The heartbeat confirms the connection at once, even without news.
    if (isOpening) void sendParts(subscriber);
    else write(subscriber, opening === '' ? '{"type":"heartbeat"}\n' : opening);
  });

  return {
    close() {
      clearInterval(timer);
      for (const { response } of subscribers) response.destroy();
      subscribers.clear();
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
