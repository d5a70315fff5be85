/**
 * A channel between two parts of one process that can be cut as a network is lost: each end stays open until it is closed
 * by itself, and nothing that is sent arrives.
 */
import { silentLog } from '#base';
import { Channel, type ChannelPeer } from '#net/channel';
import type { Frame } from '#wire';
import type { DataFrame } from '#wire/xgress';

const UNDERLAYS = [{ type: 'default', localAddress: 'memory', remoteAddress: 'memory' }];

export class LossyChannel {
  readonly near: Channel;
  readonly far: Channel;
  #isCut = false;

  /** `near` is the peer that the near end sees, `far` the one that the far end sees. */
  constructor(near: ChannelPeer, far: ChannelPeer) {
    this.near = this.#end(near, () => this.far);
    this.far = this.#end(far, () => this.near);
  }

  get isWhole(): boolean {
    return !this.#isCut && !this.near.isClosed && !this.far.isClosed;
  }

  /** From now on neither end receives anything, not even that the other end closes. */
  cut(): void {
    this.#isCut = true;
  }

  #end(peer: ChannelPeer, other: () => Channel): Channel {
    const deliver = (work: (to: Channel) => void): boolean => {
      queueMicrotask(() => {
        if (this.#isCut) return;
        work(other());
        other().receiveBatchEnd();
      });
      return true;
    };
    return new Channel(
      { id: 'lossy', peer, log: silentLog },
      {
        sendFrame: (frame: Frame) => deliver((to) => to.receive(frame)),
        sendData: (data: DataFrame) => deliver((to) => to.receiveData(data)),
        isWritable: true,
        dropped: { payloads: 0, acknowledgements: 0 },
        underlays: () => UNDERLAYS,
        afterQueued: (callback) => void setImmediate(callback),
        pauseReading: () => {},
        resumeReading: () => {},
        close: () =>
          queueMicrotask(() => {
            if (!this.#isCut) other().close('the peer closed the channel');
          }),
      },
    );
  }
}
