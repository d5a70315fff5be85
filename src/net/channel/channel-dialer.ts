/**
 * Dials a channel: one connection, a group of connections that is kept complete (OpenZiti's underlays), or the
 * two connections of a split link. If the listener does not support groups, the result is a plain channel.
 */
import { randomUUID } from 'node:crypto';
import { FrontdoorError, formatHostPort, type Log } from '#base';
import { CHANNEL_HEADERS, HeaderWriter, type FrameHeaders } from '#wire';
import { Channel } from './channel.ts';
import { frameLimitsOf, peerLimitsOf, SPLIT_MINIMUMS, SPLIT_TYPES } from './channel-kind-table.ts';
import { GroupKeeper, type ConnectionType } from './group-keeper.ts';
import type { HeartbeatOptions } from './heartbeat-machine.ts';
import { fingerprintOf } from './peer-certificate.ts';
import { TlsDriver, type SendLimits } from './tls-driver.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';
import { dialUnderlay, type DialedUnderlay, type UnderlayDialOptions } from './underlay-dial.ts';

/** The connections of a channel and their purposes. */
export type ConnectionPlan =
  | { readonly kind: 'single' }
  /** The first connection has the first type. `startupDelayMs` passes before the others are dialed. */
  | { readonly kind: 'group'; readonly types: readonly ConnectionType[]; readonly startupDelayMs: number }
  /** One connection for payloads and one for acknowledgements: the older form of links. */
  | { readonly kind: 'split' };

export interface DialChannelOptions extends UnderlayDialOptions, SendLimits {
  /** Includes header 0 for a split link, and for a group whose id the dialer chooses. */
  readonly helloHeaders: FrameHeaders;
  readonly connections?: ConnectionPlan | undefined;
  readonly heartbeat?: HeartbeatOptions | undefined;
  /** By default those of the process. */
  readonly unfinished?: UnfinishedFrames | undefined;
  readonly log: Log;
}

/** Rejects with a `FrontdoorError` (unavailable, forbidden, timeout) that names the address. */
export async function dialChannel(options: DialChannelOptions): Promise<Channel> {
  const { connections = { kind: 'single' } } = options;
  switch (connections.kind) {
    case 'single': {
      const driver = newDriver(options);
      return openChannel(options, driver, await dialUnderlay(options, options.helloHeaders), '');
    }
    case 'group':
      return dialGroup(options, connections.types, connections.startupDelayMs);
    case 'split':
      return dialSplit(options);
  }
}

async function dialGroup(
  options: DialChannelOptions,
  types: readonly ConnectionType[],
  startupDelayMs: number,
): Promise<Channel> {
  const [first] = types;
  if (first === undefined)
    throw new FrontdoorError('internal', 'no-connection-types', 'a group without connection types');
  const headers = new HeaderWriter()
    .copy(options.helloHeaders)
    .text(CHANNEL_HEADERS.underlayType, first.type)
    .bool(CHANNEL_HEADERS.isGrouped, true)
    .bool(CHANNEL_HEADERS.isFirstGroupConnection, true)
    .build();
  const dialed = await dialUnderlay(options, headers);
  const answered = dialed.answer.headers;
  if (!answered.bool(CHANNEL_HEADERS.isGrouped)) return openChannel(options, newDriver(options), dialed, '');
  const groupId = answered.text(CHANNEL_HEADERS.connectionId) ?? '';
  const secret = answered.bytes(CHANNEL_HEADERS.groupSecret)?.slice() ?? new Uint8Array(0);

  const stop = new AbortController();
  // It does nothing before this turn of the event loop ends. Driver and channel exist by then.
  const keeper = new GroupKeeper({
    types,
    startupDelayMs,
    log: options.log.child({ channel: groupId, to: formatHostPort(options.host, options.port) }),
    countOf: (type) => driver.countOf(type),
    join: async (type) => {
      const joined = await dialUnderlay(
        { ...options, signal: stop.signal },
        joinHeaders(options.helloHeaders, groupId, type, secret),
      );
      if (channel.isClosed) joined.socket.destroy();
      else driver.attach(joined.socket, joined.decoder, type);
    },
  });
  const driver = newDriver(options, new Map(types.map(({ type, min }) => [type, min])), {
    onLost: (livedMs) => keeper.onLost(livedMs),
    onClosed: () => {
      keeper.close();
      stop.abort();
    },
  });
  const channel = openChannel(options, driver, dialed, first.type);
  return channel;
}

function joinHeaders(hello: FrameHeaders, groupId: string, type: string, secret: Uint8Array): FrameHeaders {
  return without(hello, CHANNEL_HEADERS.connectionId)
    .text(CHANNEL_HEADERS.connectionId, groupId)
    .text(CHANNEL_HEADERS.underlayType, type)
    .bool(CHANNEL_HEADERS.isGrouped, true)
    .bytes(CHANNEL_HEADERS.groupSecret, secret)
    .build();
}

async function dialSplit(options: DialChannelOptions): Promise<Channel> {
  const { helloHeaders } = options;
  const connectionId = helloHeaders.text(CHANNEL_HEADERS.connectionId) ?? randomUUID();
  const driver = newDriver(options, SPLIT_MINIMUMS);
  const dialed: { type: string; underlay: DialedUnderlay }[] = [];
  try {
    for (const [number, type] of Object.entries(SPLIT_TYPES)) {
      const headers = without(helloHeaders, CHANNEL_HEADERS.connectionId)
        .text(CHANNEL_HEADERS.connectionId, connectionId)
        .u8(CHANNEL_HEADERS.replyFor, Number(number))
        .build();
      dialed.push({ type, underlay: await dialUnderlay(options, headers) });
    }
    const [payloads, acknowledgements] = dialed.map(({ underlay }) => underlay) as [
      DialedUnderlay,
      DialedUnderlay,
    ];
    const channel = openChannel(options, driver, payloads, SPLIT_TYPES[1]!);
    driver.attach(acknowledgements.socket, acknowledgements.decoder, SPLIT_TYPES[2]!);
    return channel;
  } catch (error) {
    for (const { underlay } of dialed) underlay.socket.destroy();
    throw error;
  }
}

function newDriver(
  options: DialChannelOptions,
  minimums?: ReadonlyMap<string, number>,
  group?: { readonly onLost: (livedMs: number) => void; readonly onClosed: () => void },
): TlsDriver {
  return new TlsDriver({
    limits: frameLimitsOf(options.alpn),
    owner: formatHostPort(options.host, options.port),
    maxUnfinishedBytes: peerLimitsOf(options.alpn).maxUnfinishedBytes,
    unfinished: options.unfinished,
    send: options,
    minimums,
    ...group,
  });
}

function openChannel(
  options: DialChannelOptions,
  driver: TlsDriver,
  { socket, decoder, answer, certificate }: DialedUnderlay,
  type: string,
): Channel {
  const { headers } = answer;
  const channel = new Channel(
    {
      id: headers.text(CHANNEL_HEADERS.connectionId) ?? '',
      peer: {
        id: headers.text(CHANNEL_HEADERS.id) ?? '',
        hello: headers,
        fingerprint: fingerprintOf(certificate),
        address: formatHostPort(options.host, options.port),
      },
      log: options.log,
      heartbeat: options.heartbeat,
    },
    driver,
  );
  driver.start(channel);
  driver.attach(socket, decoder, type);
  return channel;
}

/** Copies all headers except one. */
function without(headers: FrameHeaders, key: number): HeaderWriter {
  const writer = new HeaderWriter();
  for (const [id, value] of headers.entries()) if (id !== key) writer.bytes(id, value);
  return writer;
}
