/** The behaviour of every kind of channel. `channel.test.ts` runs it with memory and TLS. */
import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import { FrontdoorError } from '#base';
import {
  CHANNEL_HEADERS,
  HeaderWriter,
  LATENCY_TYPE,
  makeFrame,
  replyForOf,
  RESULT_TYPE,
  textOfBody,
  type Frame,
} from '#wire';
import { AcknowledgementFrame, PAYLOAD_TYPE, PayloadFrame, type DataFrame } from '#wire/xgress';
import { ChannelError, type Channel } from './channel.ts';

export interface ChannelPair {
  readonly dialer: Channel;
  readonly listener: Channel;
  close(): Promise<void>;
}

const ECHO_TYPE = 60_786;

export function channelSuite(name: string, open: () => Promise<ChannelPair>): void {
  describe(`a channel over ${name}`, () => {
    test('answers requests with the frame that carries their sequence, in any order', async () => {
      const { dialer, listener, close } = await open();
      const held: Frame[] = [];
      listener.handle({
        onFrame: (frame) => {
          held.push(frame);
          if (held.length < 2) return;
          for (const request of held.reverse())
            listener.reply(request, makeFrame(ECHO_TYPE, { body: request.body }));
        },
      });
      dialer.handle({ onFrame: () => {} });
      const answers = await Promise.all([
        dialer.request(makeFrame(ECHO_TYPE, { body: 'one' }), 30_000),
        dialer.request(makeFrame(ECHO_TYPE, { body: 'two' }), 30_000),
      ]);
      assert.deepEqual(answers.map(textOfBody), ['one', 'two']);
      await close();
    });

    test('carries payloads and acknowledgements with every field', async () => {
      const { dialer, listener, close } = await open();
      const got: DataFrame[] = [];
      const events = new EventEmitter();
      listener.handle({
        onFrame: () => {},
        onData: (frame) => void got.push(frame),
        onBatchEnd: () => void (got.length === 2 && events.emit('both')),
      });
      dialer.handle({ onFrame: () => {} });
      const payload = new PayloadFrame('circuit', 7, 2, Buffer.from('data'));
      payload.rtt = 0x1234;
      payload.headers = new Map([[16, Uint8Array.of(1, 0, 0, 0)]]);
      payload.connId = 9;
      const ack = new AcknowledgementFrame('circuit', 0, 55, [3, 4]);
      ack.rtt = 1;
      const both = once(events, 'both');
      dialer.sendData(payload);
      dialer.sendData(ack);
      await both;
      const [first, second] = got as [PayloadFrame, AcknowledgementFrame];
      assert.equal(first.contentType, PAYLOAD_TYPE);
      assert.equal(Buffer.from(first.data).toString(), 'data');
      assert.deepEqual([first.sequence, first.flags, first.rtt, first.connId], [7, 2, 0x1234, 9]);
      assert.deepEqual([...first.headers!.get(16)!], [1, 0, 0, 0]);
      assert.deepEqual([second.receiveBufferSize, [...second.sequences], second.rtt], [55, [3, 4], 1]);
      await close();
    });

    test('answers a latency probe with its reflected time', async () => {
      const { dialer, listener, close } = await open();
      listener.handle({ onFrame: () => {} });
      dialer.handle({ onFrame: () => {} });
      const headers = new HeaderWriter().bytes(128, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
      const answer = await dialer.request(makeFrame(LATENCY_TYPE, { headers }), 30_000);
      assert.equal(answer.contentType, RESULT_TYPE);
      assert.deepEqual([...answer.headers.bytes(128)!], [1, 2, 3, 4, 5, 6, 7, 8]);
      assert.ok(answer.headers.bool(2));
      await close();
    });

    test('describes its connection, and a peer without open requests as responsive', async () => {
      const { dialer, listener, close } = await open();
      for (const side of [dialer, listener]) {
        assert.deepEqual(
          side.underlays().map(({ type }) => type),
          ['default'],
        );
        assert.ok(side.isResponsive);
      }
      assert.equal(dialer.underlays()[0]!.localAddress, listener.underlays()[0]!.remoteAddress);
      await close();
      assert.equal(dialer.isResponsive, false);
    });

    test('a request without an answer fails at its deadline and leaves nothing behind', async () => {
      const { dialer, listener, close } = await open();
      listener.handle({ onFrame: () => {} });
      dialer.handle({ onFrame: () => {} });
      await assert.rejects(
        dialer.request(makeFrame(ECHO_TYPE), 20),
        (error) => error instanceof ChannelError && error.code === 'timeout',
      );
      await close();
    });

    test('closing notifies the other side and fails the waiting requests', async () => {
      const { dialer, listener, close } = await open();
      const events = new EventEmitter();
      listener.handle({ onFrame: () => {}, onClose: (reason) => events.emit('closed', reason) });
      dialer.handle({ onFrame: () => {} });
      const closed = once(events, 'closed');
      const waiting = assert.rejects(
        dialer.request(makeFrame(ECHO_TYPE), 30_000),
        (error) => error instanceof ChannelError && error.code === 'closed',
      );
      dialer.close('enough');
      await Promise.all([waiting, closed]);
      assert.equal(listener.send(makeFrame(ECHO_TYPE)), false);
      await close();
    });

    test('signals a stop when its queue is full, and readiness when there is room again', async () => {
      const { dialer, listener, close } = await open();
      const events = new EventEmitter();
      let received = 0;
      listener.handle({
        onFrame: () => {},
        onData: (frame) => void (received += (frame as PayloadFrame).data.length),
      });
      dialer.handle({ onFrame: () => {}, onDrain: () => events.emit('drain') });
      listener.pauseReading();
      let sent = 0;
      const piece = Buffer.alloc(64 * 1024);
      while (dialer.sendData(new PayloadFrame('circuit', sent, 0, piece))) {
        sent += 1;
        assert.ok(sent < 10_000, 'the queue must have a bound');
      }
      assert.equal(dialer.isWritable, false);
      const drained = once(events, 'drain');
      listener.resumeReading();
      await drained;
      assert.ok(received > 0);
      await close();
    });

    test('a handler that throws fails its message alone, and its sender gets a result', async () => {
      const { listener, dialer, close } = await open();
      let handled = 0;
      listener.handle({
        onFrame: (frame, channel) => {
          handled += 1;
          if (handled === 1) throw new Error('broken handler');
          channel.reply(frame, makeFrame(ECHO_TYPE));
        },
      });
      dialer.handle({ onFrame: () => {} });
      const refused = await dialer.request(makeFrame(ECHO_TYPE), 30_000);
      assert.equal(refused.headers.bool(CHANNEL_HEADERS.resultSuccess), false);
      assert.equal(textOfBody(refused), 'internal error');
      const answer = await dialer.request(makeFrame(ECHO_TYPE), 30_000);
      assert.equal(answer.contentType, ECHO_TYPE);
      await close();
    });

    test('a peer that breaks the protocol loses its channel, and others stay', async () => {
      const first = await open();
      const second = await open();
      const events = new EventEmitter();
      first.listener.handle({
        onFrame: () => {
          throw new FrontdoorError('protocol', 'malformed-body', 'a malformed body');
        },
      });
      first.dialer.handle({ onFrame: () => {}, onClose: () => events.emit('closed') });
      second.listener.handle({ onFrame: (frame) => void second.listener.reply(frame, makeFrame(ECHO_TYPE)) });
      second.dialer.handle({ onFrame: () => {} });
      const closed = once(events, 'closed');
      first.dialer.send(makeFrame(ECHO_TYPE));
      await closed;
      assert.notEqual(replyForOf(await second.dialer.request(makeFrame(ECHO_TYPE), 30_000)), undefined);
      await first.close();
      await second.close();
    });
  });
}
