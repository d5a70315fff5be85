/** Single values of a checked file as the router works with them. They were held to the schema before: none is refused. */
import type { OverlayAddress } from '#wire';
import { parseGoDuration } from './go-duration.ts';
import type { ChannelConfig, InterfaceBinding } from './router-config.ts';
import { CHANNEL_DEFAULTS, DATA_OUT_QUEUE_SIZE } from './router-default-table.ts';
import { findInterface, parseFileAddress, type NetworkInterfaces } from './text-kinds.ts';

/** Timers hold no more; nobody waits that long. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function ms(text: string): number {
  return timer(parseGoDuration(text)!);
}

export function timer(milliseconds: number): number {
  return Math.min(milliseconds, MAX_TIMER_MS);
}

export function addressOf(text: string): OverlayAddress {
  return parseFileAddress(text)!;
}

export function interfaceOf(
  text: string | undefined,
  interfaces: NetworkInterfaces,
): InterfaceBinding | undefined {
  return text === undefined ? undefined : findInterface(text, interfaces);
}

export interface ChannelFile {
  readonly outQueueSize: number;
  readonly maxQueuedConnects: number;
  readonly maxOutstandingConnects: number;
  readonly connectTimeout?: string;
  readonly writeTimeout: string;
}

export function channelOf(said: ChannelFile): ChannelConfig {
  return {
    outQueueSize: said.outQueueSize,
    maxQueuedConnects: said.maxQueuedConnects,
    maxOutstandingConnects: said.maxOutstandingConnects,
    connectTimeoutMs: ms(said.connectTimeout!),
    writeTimeoutMs: ms(said.writeTimeout),
  };
}

/** Of links and edge listeners: the general default is too small for them, and OpenZiti takes it for not given. */
export function dataChannelOf(said: ChannelFile): ChannelConfig {
  const isDefault = said.outQueueSize === CHANNEL_DEFAULTS.outQueueSize;
  return { ...channelOf(said), ...(isDefault ? { outQueueSize: DATA_OUT_QUEUE_SIZE } : {}) };
}
