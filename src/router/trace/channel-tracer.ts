/**
 * `trace.path`: records every decoded message of the control channels in OpenZiti's format. The file is truncated at
 * start, and only its owner can read it, because messages contain private data. It never delays a channel: messages
 * that the disk cannot accept in time are skipped and counted.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { FrontdoorError, messageOf, type Clock, type Log } from '#base';
import type { Channel } from '#net/channel';
import type { Frame } from '#wire';
import { encodeTraceMessage, encodeTraceState, traceOfFrame } from '#wire/ctrl';
import type { Controllers } from '../ctrl/controllers.ts';

export interface ChannelTracerOptions {
  readonly path: string;
  readonly routerId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum bytes that wait for the disk; 8 MiB by default. */
  readonly maxWaitingBytes?: number;
}

const MAX_WAITING_BYTES = 8 * 1024 * 1024;

export class ChannelTracer {
  readonly #options: ChannelTracerOptions;
  readonly #file: FileHandle;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #leftOut = 0;
  #hasFailed = false;

  private constructor(options: ChannelTracerOptions, file: FileHandle) {
    this.#options = options;
    this.#file = file;
  }

  /** Rejects with `invalid` when the file cannot be written. */
  static async open(options: ChannelTracerOptions): Promise<ChannelTracer> {
    const { path } = options;
    try {
      const file = await open(path, 'w', 0o600);
      // Otherwise an existing file keeps its mode.
      await file.chmod(0o600);
      return new ChannelTracer(options, file);
    } catch (cause) {
      const message = `trace.path: ${path} cannot be written: ${messageOf(cause)}`;
      throw new FrontdoorError('invalid', 'trace-file', message, { cause });
    }
  }

  /**
   * Traces the channels of all controllers. Called before other parts start, so that their first messages are traced.
   */
  follow(controllers: Controllers): void {
    controllers.onConnected(({ id, channel }) => this.#onConnected(id, channel));
    controllers.onDisconnected(({ id }) =>
      this.#write(encodeTraceState({ ...this.#common(id), connected: false })),
    );
  }

  /** Writes the waiting messages. */
  async close(): Promise<void> {
    const { path, log } = this.#options;
    while (this.#writing !== undefined) await this.#writing;
    this.#hasFailed = true;
    if (this.#leftOut > 0) log.warn({ path, count: this.#leftOut }, 'messages are missing in the trace');
    await this.#file.close();
  }

  #onConnected(id: string, channel: Channel): void {
    const remoteAddress = channel.peer.address;
    this.#write(encodeTraceState({ ...this.#common(id), connected: true, remoteAddress }));
    channel.observe((frame, direction) => this.#onFrame(id, frame, direction));
  }

  #onFrame(id: string, frame: Frame, direction: 'rx' | 'tx'): void {
    if (this.#hasFailed) return;
    if (this.#waitingBytes >= (this.#options.maxWaitingBytes ?? MAX_WAITING_BYTES)) {
      this.#leaveOut();
      return;
    }
    this.#write(
      encodeTraceMessage({ ...this.#common(id), ...traceOfFrame(frame), isRx: direction === 'rx' }),
    );
  }

  #common(controllerId: string) {
    const { clock, routerId } = this.#options;
    return {
      timestamp: BigInt(Math.round(clock.nowMs())) * 1_000_000n,
      identity: routerId,
      channel: `ctrl/${controllerId}`,
    };
  }

  #write(record: Uint8Array): void {
    if (this.#hasFailed) return;
    this.#waiting.push(record);
    this.#waitingBytes += record.length;
    this.#writing ??= this.#drain();
  }

  /** Writes all messages that arrived during the previous write. */
  async #drain(): Promise<void> {
    const { path, log } = this.#options;
    try {
      while (this.#waiting.length > 0) {
        const records = this.#waiting;
        const bytes = this.#waitingBytes;
        this.#waiting = [];
        await this.#file.appendFile(Buffer.concat(records));
        this.#waitingBytes -= bytes;
      }
    } catch (error) {
      this.#hasFailed = true;
      this.#waiting = [];
      log.error({ path, err: messageOf(error) }, 'the trace cannot be written and ends');
    }
    this.#writing = undefined;
  }

  #leaveOut(): void {
    const { path, log } = this.#options;
    if (this.#leftOut === 0)
      log.warn({ path }, 'the disk is slower than the messages; some are missing in the trace');
    this.#leftOut += 1;
  }
}
