/** Reading of an SDK's channel, which several may want to stop at once: it goes on when the last of them lets it. */
import type { Channel } from '#net';
import type { FrameSource } from '../forwarder/destination.ts';

export class ChannelReading implements FrameSource {
  readonly #channel: Channel;
  #stops = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  pauseReading(): void {
    this.#stops += 1;
    if (this.#stops === 1) this.#channel.pauseReading();
  }

  resumeReading(): void {
    this.#stops -= 1;
    if (this.#stops === 0) this.#channel.resumeReading();
  }
}
