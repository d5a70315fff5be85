// Every length a peer can claim, at every listener of frames: held to the limits before memory is taken for it, and to
// the byte. And frames in any cuts.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { base62 } from '#base';
import {
  encodeFrame,
  headerId,
  HeaderWriter,
  HELLO_TYPE,
  LATENCY_TYPE,
  makeFrame,
  makeHello,
  RESULT_TYPE,
  versionHeader,
  type FrameHeaders,
} from '#wire';
import { encodeControllerHello } from '#wire/ctrl';
import { until } from '../support/deadline.ts';
import { usedMemory } from '../support/heap.ts';
import { frameHead } from '../support/hostile-bytes.ts';
import { openHostileMesh, type HostileMesh } from '../support/hostile-mesh.ts';
import { linkHelloHeaders, routerHelloHeaders } from '../support/hostile-router.ts';
import { edgeHelloHeaders, WirePeer, type WireCredentials } from '../support/wire-peer.ts';
import type { LogRecord } from '../support/recording-log.ts';

const { channel } = headerId;
/** A type that no program handles. */
const PADDING = 9_999;
const UNKNOWN_TYPE = 4_242;
/** Honest peers need a moment too, on a busy machine. */
const HELLO_TIMEOUT_MS = 2_000;
const MALFORMED = 'malformed hello, connection closed';
const LATE = 'no hello in time, connection closed';
const MIB = 1 << 20;
const MAX_HEADERS_BYTES = 64 * 1024;
/** Too much for a hello, each alone. */
const FAULTY_LENGTHS: readonly (readonly [headersBytes: number, bodyBytes: number])[] = [
  [16_385, 0],
  [0, 4_193],
  [0x7fff_ffff, 0],
  [0, 0x7fff_ffff],
  [0x8000_0000, 0],
  [0, 0x8000_0000],
  [0xffff_ffff, 0],
  [0, 0xffff_ffff],
  [0xffff_ffff, 0xffff_ffff],
];

interface Listener {
  readonly port: number;
  readonly alpn: string;
  readonly credentials: WireCredentials;
  readonly id: string;
  /** Limit for frames that carry no data. */
  readonly maxBodyBytes: number;
  /** Several channels of one peer stand beside one another. */
  readonly takesSeveral: boolean;
  /** The id in the body may be anything. */
  readonly takesAnyBody: boolean;
  headers(): FrameHeaders;
  records(): LogRecord[];
}

let mesh: HostileMesh;
const listeners = new Map<string, Listener>();

before(async () => {
  mesh = await openHostileMesh({ helloTimeoutMs: HELLO_TIMEOUT_MS });
  const { world, hostile, target, ports, authority, records } = mesh;
  const sdk = await world.enrollEnvironment('sdk');
  const router = await world.enrollRouter('lengths');
  const controller = await authority.issue('fuzz', { uris: ['spiffe://fuzz/controller/fuzz'] });
  const linkFacts = { routerId: hostile.identity.id, dialedRouterId: target.id };
  listeners.set('link', {
    port: ports.link,
    alpn: 'ziti-link',
    credentials: hostile.identity.credentials,
    id: 'link',
    maxBodyBytes: MIB,
    takesSeveral: true,
    takesAnyBody: true,
    headers: () =>
      linkHelloHeaders({ ...linkFacts, linkId: base62(randomBytes(16)), binding: base62(randomBytes(4)) }),
    records: () => records,
  });
  listeners.set('edge', {
    port: world.up.router.edgePort,
    alpn: 'ziti-edge',
    credentials: sdk.credentials,
    id: sdk.id,
    maxBodyBytes: MIB / 4,
    takesSeveral: true,
    takesAnyBody: true,
    headers: () => edgeHelloHeaders(sdk.sessionToken),
    records: () => world.records,
  });
  listeners.set("router's ctrl", {
    port: ports.routerCtrl,
    alpn: 'ziti-ctrl',
    credentials: controller,
    id: 'fuzz',
    maxBodyBytes: 64 * MIB,
    takesSeveral: false,
    takesAnyBody: false,
    headers: () => encodeControllerHello(versionHeader('linux', 'x64'), []),
    records: () => records,
  });
  listeners.set("control plane's ctrl", {
    port: Number(world.up.control.ctrlAddress.split(':').at(-1)),
    alpn: 'ziti-ctrl',
    credentials: router.credentials,
    id: router.id,
    maxBodyBytes: 64 * MIB,
    takesSeveral: false,
    takesAnyBody: false,
    headers: routerHelloHeaders,
    records: () => world.records,
  });
});
after(() => mesh?.close());

/** Filled up to so many bytes. */
function padded(headers: FrameHeaders, bytes: number): FrameHeaders {
  const padding = new Uint8Array(bytes - headers.raw.length - 8);
  return new HeaderWriter().copy(headers).bytes(PADDING, padding).build();
}

function isTaken(peer: WirePeer): boolean {
  return peer.frames[0]?.headers.bool(channel.resultSuccess) === true;
}

for (const name of ['link', 'edge', "router's ctrl", "control plane's ctrl"]) {
  describe(`the ${name} listener`, () => {
    const listener = (): Listener => listeners.get(name)!;
    /** A machine that stood still for as long as a handshake may take ends it: then another is begun. */
    const connect = async (): Promise<WirePeer> =>
      (
        await until(
          'a connection',
          () => WirePeer.open(listener()),
          () => true,
        )
      ).value;

    /** A channel whose hello is done; the one before may still be on its way out. */
    const openChannel = async (): Promise<WirePeer> => {
      const { value } = await until(
        'a channel',
        async () => {
          const peer = await connect();
          await peer.hello(listener().id, listener().headers());
          if (isTaken(peer)) return peer;
          peer.close();
          return undefined;
        },
        (peer) => peer !== undefined,
      );
      await assertAlive(value!);
      return value!;
    };
    const assertAlive = async (peer: WirePeer): Promise<void> => {
      assert.equal((await peer.ask(makeFrame(LATENCY_TYPE))).contentType, RESULT_TYPE);
    };
    const countOf = (message: string): number =>
      listener()
        .records()
        .filter((record) => record.message === message).length;

    /**
     * Sends the bytes on a new connection, which the listener must close without an answer. Returns how often it
     * logged a malformed frame.
     */
    const malformedBy = async (bytes: Uint8Array): Promise<number> => {
      for (;;) {
        const [malformed, late] = [countOf(MALFORMED), countOf(LATE)];
        const peer = await connect();
        peer.sendBytes(bytes);
        await peer.closed();
        assert.equal(peer.frames.length, 0);
        const more = countOf(MALFORMED) - malformed;
        // None was read in time where the machine stood still in the meantime.
        if (more > 0 || countOf(LATE) === late) return more;
      }
    };
    const helloOf = (id: string, headers: FrameHeaders): Uint8Array => encodeFrame(makeHello(id, headers));

    it('takes a hello with headers of 16,384 bytes, and cuts off one with 16,385', async () => {
      const { value: peer } = await until(
        'the hello to be taken',
        async () => {
          const one = await connect();
          await one.hello(listener().id, padded(listener().headers(), 16_384));
          return one;
        },
        isTaken,
      );
      peer.close();
      assert.equal(await malformedBy(helloOf(listener().id, padded(listener().headers(), 16_385))), 1);
    });

    it('reads a hello with a body of 4,192 bytes, and cuts off one with 4,193', async () => {
      const malformed = countOf(MALFORMED);
      const { value: peer } = await until(
        'the hello to be judged',
        async () => {
          const one = await connect();
          await one.hello('x'.repeat(4_192), listener().headers());
          return one;
        },
        (one) => isTaken(one) === listener().takesAnyBody,
      );
      peer.close();
      assert.equal(countOf(MALFORMED), malformed);
      assert.equal(await malformedBy(helloOf('x'.repeat(4_193), listener().headers())), 1);
    });

    it('cuts off a hello that claims more by its head alone, and waits for the rest of one that may come', async () => {
      for (const [headersBytes, bodyBytes] of FAULTY_LENGTHS) {
        const reported = await malformedBy(frameHead(HELLO_TYPE, headersBytes, bodyBytes));
        assert.equal(reported, 1, `${headersBytes} ${bodyBytes}`);
      }
      const malformed = countOf(MALFORMED);
      await until(
        'refused connections are logged once in ten seconds, and this one must be logged',
        async () => {
          const late = countOf(LATE);
          const peer = await connect();
          peer.sendBytes(frameHead(HELLO_TYPE, 16_384, 4_192));
          await peer.closed();
          return countOf(LATE) - late;
        },
        (more) => more === 1,
      );
      assert.equal(countOf(MALFORMED), malformed);
    });

    it('refuses a hello without headers and body, and continues', async () => {
      const peer = await connect();
      peer.sendBytes(frameHead(HELLO_TYPE, 0, 0));
      await peer.closed();
    });

    it('takes frames up to its limits after the hello, and cuts off those beyond', async () => {
      const { maxBodyBytes } = listener();
      const peer = await openChannel();
      peer.send(makeFrame(UNKNOWN_TYPE, { headers: padded(new HeaderWriter().build(), MAX_HEADERS_BYTES) }));
      peer.send(makeFrame(UNKNOWN_TYPE, { body: new Uint8Array(maxBodyBytes) }));
      await assertAlive(peer);
      peer.close();
      for (const [headersBytes, bodyBytes] of [
        [MAX_HEADERS_BYTES + 1, 0],
        [0, maxBodyBytes + 1],
        [0x8000_0000, 0],
        [0, 0xffff_ffff],
      ] as const) {
        const other = await openChannel();
        other.sendBytes(frameHead(UNKNOWN_TYPE, headersBytes, bodyBytes));
        await other.closed();
      }
    });

    it('allocates memory for received bytes, not for claimed lengths', async () => {
      const { takesSeveral, maxBodyBytes } = listener();
      const peers: WirePeer[] = [];
      const memory = await usedMemory();
      for (let at = 0; at < (takesSeveral ? 10 : 1); at += 1) {
        const peer = await openChannel();
        peer.sendBytes(frameHead(UNKNOWN_TYPE, 0, maxBodyBytes));
        peer.sendBytes(new Uint8Array(1_000));
        peers.push(peer);
      }
      await mesh.circuits.goOn(3);
      const grown = (await usedMemory()) - memory;
      assert.ok(grown < 8 * MIB, `memory grew by ${(grown / MIB).toFixed(1)} MiB`);
      for (const peer of peers) peer.close();
    });

    it('takes a hello and a frame that come byte by byte', async () => {
      const { value: peer } = await until(
        'the hello to be taken',
        async () => {
          const one = await connect();
          await trickle(one, encodeFrame(makeHello(listener().id, listener().headers())));
          await one.until('an answer', () => one.frames.length > 0 || one.isClosed);
          return one;
        },
        isTaken,
      );
      peer.frames.length = 0;
      await trickle(peer, encodeFrame(makeFrame(LATENCY_TYPE, { sequence: 7 })));
      await peer.until('an answer', () => peer.frames.some(({ contentType }) => contentType === RESULT_TYPE));
      await assertAlive(peer);
      peer.close();
    });

    it('takes a frame that is cut in two at any byte', async () => {
      const peer = await openChannel();
      const mark = new HeaderWriter().bytes(channel.reflected, new Uint8Array(9)).build();
      for (let cut = 1; ; cut += 1) {
        const bytes = encodeFrame(makeFrame(LATENCY_TYPE, { headers: mark, sequence: 1_000 + cut }));
        if (cut >= bytes.length) break;
        peer.frames.length = 0;
        peer.sendBytes(bytes.subarray(0, cut));
        await turn();
        peer.sendBytes(bytes.subarray(cut));
        await peer.until('an answer', () =>
          peer.frames.some(({ headers }) => headers.u32(channel.replyFor) === 1_000 + cut),
        );
      }
      peer.close();
    });

    it('has served its other clients in the meantime', async () => {
      await mesh.circuits.goOn(3);
      assert.deepEqual(mesh.circuits.errors, []);
      assert.deepEqual(
        [...mesh.records, ...mesh.world.records].filter(({ level }) => level === 'error'),
        [],
      );
    });
  });
}

/** Each byte in a record of its own. */
async function trickle(peer: WirePeer, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += 1) {
    peer.sendBytes(bytes.subarray(at, at + 1));
    if (at % 32 === 0) await turn();
  }
}
