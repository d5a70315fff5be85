/** Reading of an SDK's channel. Several parties can pause it; it resumes when all of them have released it. */
import type { Channel } from '#net/channel';
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
