/** A controller that a test plays itself towards a router of Frontdoor, over a real control channel. */
import { ChannelListener, type Channel } from '#net/channel';
import { silentLog } from '#base';
import { messageName, versionHeader, type Frame, type FrameHeaders } from '#wire';
import {
  ControllerCapability,
  ctrlMessages,
  encodeControllerHello,
  type CtrlBody,
  type CtrlMessageName,
} from '#wire/ctrl';
import type { TestIdentity } from './certificates.ts';
import { until } from './deadline.ts';

export interface ScriptedController {
  readonly port: number;
  /** `tls:127.0.0.1:port`. */
  readonly endpoint: string;
  /** Channels that routers opened, oldest first. */
  readonly channels: readonly Channel[];
  /** Those that are open. */
  readonly open: readonly Channel[];
  /** Bodies of the hellos, oldest first: the ids of the routers. */
  readonly routerIds: readonly string[];
  /** Headers of the hellos, oldest first. */
  readonly hellos: readonly FrameHeaders[];
  /** Frames that no test has taken yet. */
  readonly frames: readonly Frame[];
  /** Over the newest channel that is open. */
  send(frame: Frame): void;
  /** The next frame of a type that no test has taken, over any channel. */
  frame(type: number): Promise<Frame>;
  next<Name extends CtrlMessageName>(name: Name): Promise<CtrlBody<Name>>;
  /** The n-th channel, from 1, once it is open. */
  connected(count?: number): Promise<Channel>;
  close(): Promise<void>;
}

export interface ScriptedControllerOptions {
  readonly id?: string;
  /** 0: any. */
  readonly port?: number;
  /** Headers of the answer to hellos; those of a 1.7.2 controller when absent. */
  readonly helloHeaders?: FrameHeaders;
  /** Returns the reason for refusing the router, or undefined to admit it. */
  readonly refuse?: (() => string | undefined) | undefined;
}

const { createTerminatorV2, singleRouterLinkSource, createCircuitV2, routerDataModel } = ControllerCapability;
const HELLO_HEADERS = encodeControllerHello(versionHeader('linux', 'x64'), [
  createTerminatorV2,
  singleRouterLinkSource,
  createCircuitV2,
  routerDataModel,
]);

export async function openScriptedController(
  tls: TestIdentity,
  options: ScriptedControllerOptions = {},
): Promise<ScriptedController> {
  const { id = 'ctrl', port = 0, helloHeaders = HELLO_HEADERS, refuse } = options;
  const channels: Channel[] = [];
  const hellos: FrameHeaders[] = [];
  const routerIds: string[] = [];
  const frames: Frame[] = [];
  const listener = await ChannelListener.open({
    host: '127.0.0.1',
    port,
    tls,
    alpn: ['ziti-ctrl'],
    ownId: id,
    allowGroups: false,
    log: silentLog,
    authorize: (hello, peer) => {
      const reason = refuse?.();
      if (reason !== undefined) return { accept: false, log: reason, answer: reason };
      routerIds.push(peer.id);
      hellos.push(hello.headers);
      return { accept: true, extra: helloHeaders };
    },
    onChannel: (channel) => {
      channels.push(channel);
      channel.handle({ onFrame: (frame) => void frames.push(frame) });
    },
  });
  const frameOf = async (type: number): Promise<Frame> => {
    const index = (): number => frames.findIndex((frame) => frame.contentType === type);
    await until(`a ${messageName(type)}`, index, (at) => at >= 0);
    return frames.splice(index(), 1)[0]!;
  };
  return {
    port: listener.port,
    endpoint: `tls:127.0.0.1:${listener.port}`,
    channels,
    get open() {
      return channels.filter(({ isClosed }) => !isClosed);
    },
    routerIds,
    hellos,
    frames,
    send: (frame) => void channels.findLast(({ isClosed }) => !isClosed)!.send(frame),
    frame: frameOf,
    next: async (name) => {
      const codec = ctrlMessages[name];
      return codec.decode((await frameOf(codec.contentType)).body) as CtrlBody<typeof name>;
    },
    connected: async (count = 1) => {
      await until(
        `channel ${count} at ${id}`,
        () => channels.length,
        (length) => length >= count,
      );
      return channels[count - 1]!;
    },
    close: () => listener.close(),
  };
}
