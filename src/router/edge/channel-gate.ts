/**
 * The gate before an SDK's channel. While the channel is full, sources of payloads for it are not read, so that none
 * are lost.
 */
import type { Channel } from '#net/channel';
import type { DataFrame } from '#wire/xgress';
import type { SourceHolds } from '../forwarder/source-holds.ts';
import { TransitGate } from '../forwarder/transit-gate.ts';

export type ChannelGate = TransitGate;

export function openChannelGate(channel: Channel, holds: SourceHolds): ChannelGate {
  const link = {
    get isWritable(): boolean {
      return channel.isWritable;
    },
    deliver: (frame: DataFrame): void => void channel.sendData(frame),
  };
  return new TransitGate({
    link,
    hold: (source) => holds.hold(source),
    release: (source) => holds.release(source),
  });
}
