// Hellos of links: recorded ones of a real network, our own, and invalid ones.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HeaderWriter, HELLO_TYPE, makeFrame, makeHello } from '#wire';
import {
  channelOf,
  frameOfHex,
  loadRecordedFrames,
  loadWireVectors,
} from '../../../test/support/recorded-frames.ts';
import { decodeLinkHello, encodeLinkHello, type LinkHello } from './link-hello-codec.ts';

describe('the hello of a link', () => {
  test('of a real network names the dialer and the dialed router', () => {
    const hellos = loadRecordedFrames().filter(
      (recorded) => recorded.type === HELLO_TYPE && channelOf(recorded) === 'link',
    );
    assert.ok(hellos.length >= 8);
    for (const recorded of hellos) {
      const hello = decodeLinkHello(frameOfHex(recorded.frame!));
      assert.ok(typeof hello !== 'string', recorded.connection);
      assert.equal(hello.linkId.length, 22);
      assert.equal(hello.iteration, 1);
      assert.equal(hello.routerVersion, 'v0.0.0');
      assert.equal(hello.connectionId.length, 36);
      assert.match(hello.binding, /^(?:lo)?$/);
      assert.notEqual(hello.routerId, hello.dialedRouterId);
    }
  });

  test('of release 2 is taken from its header of the link id', () => {
    const vector = loadWireVectors().find(({ name }) => name === 'link_hello_first')!;
    assert.deepEqual(decodeLinkHello(frameOfHex(vector.hex)), {
      linkId: 'link1',
      connectionId: '7b1c0f6e-0000-4000-8000-000000000001',
      routerId: 'r1',
      routerVersion: 'v2.1.0',
      binding: '',
      iteration: 1,
      dialedRouterId: 'r2',
    });
  });

  test('comes back as it was encoded', () => {
    const hello: LinkHello = {
      linkId: '5S1RDM7qE2yQXkmGtQkZ8a',
      connectionId: '7b1c0f6e-0000-4000-8000-000000000001',
      routerId: 'r1',
      routerVersion: '',
      binding: 'eth0',
      iteration: 4_000_000_000,
      dialedRouterId: 'r2',
    };
    assert.deepEqual(decodeLinkHello(makeHello('5S1RDM7qE2yQXkmGtQkZ8a', encodeLinkHello(hello))), hello);
    const older = { ...hello, dialedRouterId: undefined };
    assert.deepEqual(decodeLinkHello(makeHello(hello.linkId, encodeLinkHello(older))), older);
  });

  test('without a link or a router, or with ids that nobody makes, is refused', () => {
    const router = new HeaderWriter().text(2, 'r1').build();
    const refusals = [
      makeHello('', router),
      makeHello('link1', new HeaderWriter().build()),
      makeHello('x'.repeat(129), router),
      makeHello('link1', new HeaderWriter().text(2, 'r'.repeat(129)).build()),
      makeHello('link1', new HeaderWriter().text(2, 'r1').text(4, 'b'.repeat(129)).build()),
    ].map(decodeLinkHello);
    for (const refusal of refusals) assert.equal(typeof refusal, 'string');
  });

  test('with numbers of another size counts as its first dial', () => {
    const headers = new HeaderWriter().text(2, 'r1').bytes(5, Uint8Array.of(1, 2)).build();
    const hello = decodeLinkHello(makeFrame(HELLO_TYPE, { body: 'link1', headers }));
    assert.ok(typeof hello !== 'string');
    assert.equal(hello.iteration, 0);
  });
});
