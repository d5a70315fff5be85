/** A controller that a test plays itself towards a router of ours, over a real control channel. */
import { ChannelListener, type Channel } from '#net';
import { silentLog } from '#base';
import { messageName, type Frame } from '#wire';
import { ctrlMessages, type CtrlBody, type CtrlMessageName } from '#wire/ctrl';
import type { TestIdentity } from './certificates.ts';
import { until } from './deadline.ts';

export interface ScriptedController {
  readonly port: number;
  /** Channels that routers opened, oldest first. */
  readonly channels: readonly Channel[];
  /** Bodies of the hellos, oldest first: the ids of the routers. */
  readonly routerIds: readonly string[];
  send(frame: Frame): void;
  /** The next frame of a type that nobody took, over any channel. */
  frame(type: number): Promise<Frame>;
  next<Name extends CtrlMessageName>(name: Name): Promise<CtrlBody<Name>>;
  close(): Promise<void>;
}

/** `port` 0: any. */
export async function openScriptedController(tls: TestIdentity, port = 0): Promise<ScriptedController> {
  const channels: Channel[] = [];
  const routerIds: string[] = [];
  const frames: Frame[] = [];
  const listener = await ChannelListener.open({
    host: '127.0.0.1',
    port,
    tls,
    alpn: ['ziti-ctrl'],
    ownId: 'ctrl',
    allowGroups: false,
    log: silentLog,
    authorize: (_hello, peer) => {
      routerIds.push(peer.id);
      return { accept: true };
    },
    onChannel: (channel) => {
      channels.push(channel);
      channel.handle({ onFrame: (frame) => void frames.push(frame) });
    },
  });
  const frameOf = async (type: number): Promise<Frame> => {
    const index = (): number => frames.findIndex((frame) => frame.contentType === type);
    await until(`a ${messageName(type)}`, index, (at) => at >= 0, 5_000);
    return frames.splice(index(), 1)[0]!;
  };
  return {
    port: listener.port,
    channels,
    routerIds,
    send: (frame) => void channels.at(-1)!.send(frame),
    frame: frameOf,
    next: async (name) => {
      const codec = ctrlMessages[name];
      return codec.decode((await frameOf(codec.contentType)).body) as CtrlBody<typeof name>;
    },
    close: () => listener.close(),
  };
}
