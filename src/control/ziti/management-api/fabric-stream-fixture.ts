/** A client of `/fabric/v1/ws-api`, for tests: frames of OpenZiti's channels, one in each message of a WebSocket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { textOf } from '#base';
import { contentType, encodeFrame, FrameDecoder, headerId, makeFrame, type Frame } from '#wire';
import { FABRIC_EVENTS_PATH } from './fabric-event-routes.ts';
import { until, within } from '../../../../test/support/deadline.ts';

const LIMITS = { maxHeadersBytes: 65_536, maxBodyBytes: 1_048_576 };
const SEQUENCE = 7;

export interface FabricApi {
  readonly apiUrl: string;
  /** The authorities of the server. */
  readonly pki: { readonly caBundlePem: string };
}

export class FabricStreamReader {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  readonly #decoder = new FrameDecoder(LIMITS);

  private constructor({ apiUrl, pki }: FabricApi, headers: Readonly<Record<string, string>>) {
    const url = apiUrl.replace('https', 'wss') + FABRIC_EVENTS_PATH;
    this.socket = new WebSocket(url, { ca: pki.caBundlePem, headers });
    this.socket.on('error', () => {});
    this.socket.on('message', (data: Buffer) => {
      this.#decoder.push(data, (frame) => void this.frames.push(frame));
    });
  }

  /** `headers` prove the administrator. */
  static async open(api: FabricApi, headers: Readonly<Record<string, string>>): Promise<FabricStreamReader> {
    const reader = new FabricStreamReader(api, headers);
    await within('the upgrade', once(reader.socket, 'open'));
    return reader;
  }

  async next(): Promise<Frame> {
    await until(
      'a frame',
      () => this.frames.length,
      (count) => count > 0,
    );
    return this.frames.shift()!;
  }

  /** Returns the result's text, after `ok ` for success. */
  async subscribe(...subscriptions: readonly object[]): Promise<string> {
    return this.request({ format: 'json', subscriptions });
  }

  async request(body: object, type: number = contentType.streamEventsRequest): Promise<string> {
    return resultOf(await this.ask(type, JSON.stringify(body)));
  }

  /** Returns the frame that answers. */
  async ask(type: number, body: string | Uint8Array): Promise<Frame> {
    this.send(type, body);
    const answer = await this.next();
    assert.equal(answer.headers.i32(headerId.channel.replyFor), SEQUENCE);
    return answer;
  }

  send(type: number, body: string | Uint8Array): void {
    this.socket.send(encodeFrame(makeFrame(type, { body, sequence: SEQUENCE })));
  }

  async event(): Promise<{ readonly type: string | undefined; readonly event: Record<string, unknown> }> {
    const { contentType: kind, headers, body } = await this.next();
    assert.equal(kind, contentType.streamEventsEvent);
    const { timestamp, ...event } = JSON.parse(textOf(body)) as Record<string, unknown>;
    assert.ok(Number.isFinite(Date.parse(String(timestamp))));
    return { type: headers.text(headerId.streamEvents.eventType), event };
  }

  async closed(): Promise<void> {
    if (this.socket.readyState !== WebSocket.CLOSED) await within('the end', once(this.socket, 'close'));
  }
}

/** The text of a result, after `ok ` for success. */
export function resultOf({ headers, body }: Frame): string {
  return `${headers.bool(headerId.channel.resultSuccess) ? 'ok ' : ''}${textOf(body)}`;
}
