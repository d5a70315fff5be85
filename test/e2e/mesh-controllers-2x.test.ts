// What OpenZiti's controllers and routers of 2.x do towards our router and those of 1.x do not, as a script over TLS,
// frame by frame: controllers that answer as for a group, links that are joined without header 11. The frames are those
// of the vectors. Routers of 2.x at our control plane: src/control/overlay/routers/router-2x.test.ts.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { bytesOfHex, hexOf } from '#base';
import {
  contentType,
  encodeFrame,
  FrameDecoder,
  FrameHeaders,
  headerId,
  makeFrame,
  makeResult,
  textOfBody,
  type Frame,
} from '#wire';
import { decodeRouteResult, RouteErrorCode } from '#wire/circuits';
import { decodePayload } from '#wire/xgress';
import { ctrlMessages, DestType, helloMessages } from '#wire/ctrl';
import { until } from '../support/deadline.ts';
import { FabricMesh } from '../support/fabric-mesh.ts';
import { loadWireVectors, vectorFrame, withHeaders } from '../support/recorded-frames.ts';
import { RouterStage } from '../support/router-stage.ts';
import { WirePeer } from '../support/wire-peer.ts';

const { channel: header, ctrlHello } = headerId;

describe('a controller of 2.x at our router', () => {
  /** Answers each hello by `answer`, and keeps what comes afterwards. */
  async function openController(t: TestContext, answer: (hello: Frame) => Frame) {
    const stage = await RouterStage.open(t);
    const hellos: Frame[] = [];
    const frames: Frame[] = [];
    const sockets: TLSSocket[] = [];
    const raw = await stage.rawController((socket) => {
      const decoder = new FrameDecoder({ maxHeadersBytes: 1 << 16, maxBodyBytes: 1 << 20 });
      sockets.push(socket);
      let isFirst = true;
      socket.on('data', (bytes: Buffer) => {
        decoder.push(bytes, (frame) => {
          const kept = copyOf(frame);
          if (isFirst) {
            hellos.push(kept);
            socket.write(encodeFrame(answer(kept)));
          } else frames.push(kept);
          isFirst = false;
        });
      });
    });
    const frameOf = async (type: number, withHeader?: number): Promise<Frame> => {
      const isIt = ({ contentType: of, headers }: Frame): boolean =>
        of === type && (withHeader === undefined || headers.has(withHeader));
      const { value } = await until(
        `a ${type}`,
        () => frames.find(isIt),
        (found) => found !== undefined,
      );
      return value!;
    };
    return { stage, port: raw.port, hellos, frames, frameOf, sockets };
  }

  const plainAnswer = (hello: Frame): Frame => {
    const { headers, body } = vectorFrame('ctrl_hello_result');
    const ungrouped = new Map(
      [header.type, header.isGrouped, header.groupSecret].map((id) => [id, undefined] as const),
    );
    const answer = withHeaders(makeFrame(contentType.result, { headers, body, sequence: -1 }), ungrouped);
    // As 2.x does: the header that 1.x kept its listeners in comes back as if it were a secret.
    const echoed = hello.headers.bytes(header.groupSecret);
    return echoed === undefined ? answer : withHeaders(answer, new Map([[header.groupSecret, echoed]]));
  };

  test('gets a hello that 1.x understands too, and is a controller when it answers with a plain channel', async (t) => {
    const { stage, port, hellos, frameOf } = await openController(t, plainAnswer);
    const router = await stage.start([{ port }], {
      link: {
        listeners: [{ binding: 'transport', bind: 'tls:127.0.0.1:0', advertise: 'tls:localhost:6000' }],
      },
    });
    const links = ctrlMessages.routerLinks.decode((await frameOf(contentType.routerLinks)).body);
    assert.deepEqual([links.fullRefresh, links.links.length], [true, 0]);
    assert.equal(router.isConnected, true);
    const [hello] = hellos;
    assert.deepEqual([hello!.contentType, hello!.sequence, textOfBody(hello!)], [0, -1, router.id]);
    assert.equal(hello!.headers.has(header.isGrouped), false);
    assert.equal(hexOf(hello!.headers.bytes(ctrlHello.capabilities)!), '02');
    for (const id of [ctrlHello.listeners, ctrlHello.legacyListeners])
      assert.equal(helloMessages.listeners.decode(hello!.headers.bytes(id)!).listeners.length, 1);
    assert.equal(hexOf(hello!.headers.bytes(ctrlHello.legacyMetadata)!), '0a0101');
  });

  test('that answers as if a group had been asked for gets one connection all the same, and its heartbeats answered', async (t) => {
    const { stage, port, hellos, frameOf, sockets } = await openController(t, () =>
      vectorFrame('ctrl_hello_result'),
    );
    const router = await stage.start([{ port }]);
    await frameOf(contentType.routerLinks);
    sockets[0]!.write(bytesOfHex(loadWireVectors().find(({ name }) => name === 'heartbeat_request')!.hex));
    const beat = await frameOf(contentType.heartbeat, header.heartbeatResponse);
    assert.deepEqual(
      beat.headers.bytes(header.heartbeatResponse),
      vectorFrame('heartbeat_request').headers.bytes(header.heartbeat),
    );
    assert.equal(router.isConnected, true);
    assert.equal(hellos.length, 1);
  });

  test('that is busy is dialed again', async (t) => {
    let isBusy = true;
    const { stage, port, hellos, frameOf } = await openController(t, (hello) => {
      const answer = isBusy ? vectorFrame('hello_reject_busy') : plainAnswer(hello);
      isBusy = false;
      return answer;
    });
    const router = await stage.start([{ port }]);
    await frameOf(contentType.routerLinks);
    assert.equal(hellos.length, 2);
    assert.equal(router.isConnected, true);
  });

  test('lists the other controllers with their ids and addresses, and the router dials them', async (t) => {
    const { stage, port, frameOf, sockets } = await openController(t, plainAnswer);
    const fellow = await stage.controller({ id: 'ctrl2' });
    await stage.start([{ port }]);
    await frameOf(contentType.routerLinks);
    const update = ctrlMessages.updateCtrlAddresses.frame({
      addresses: [],
      index: 7n,
      isLeader: true,
      controllers: [
        { id: 'ctrl1', endpoints: [{ address: `tls:127.0.0.1:${port}`, groups: ['default'] }] },
        { id: 'ctrl2', endpoints: [{ address: fellow.endpoint, groups: ['default'] }] },
      ],
    });
    sockets[0]!.write(encodeFrame({ ...update, sequence: 3 }));
    await fellow.connected();
    assert.equal(sockets[0]!.destroyed, false);
  });

  test('gets an error code of 2.x in RouteResult for a route that the router cannot make', async (t) => {
    const { stage, port, frameOf, sockets } = await openController(t, plainAnswer);
    await stage.start([{ port }]);
    await frameOf(contentType.routerLinks);
    sockets[0]!.write(encodeFrame(vectorFrame('ctrl_route_egress')));
    const result = decodeRouteResult(await frameOf(contentType.routeResult));
    // Without a `dialers` section.
    assert.deepEqual([result?.isSuccess, result?.errorCode], [false, RouteErrorCode.misconfiguredTerminator]);
  });
});

describe('a router of 2.1 on a link to ours', () => {
  test('names the link in header 100 and joins without header 11; its payloads and acknowledgements are taken on any', async (t) => {
    const stage = await RouterStage.open(t);
    const controller = await stage.controller();
    const port = await FabricMesh.freePort();
    const router = await stage.start(
      [controller],
      {
        link: {
          listeners: [
            { binding: 'transport', bind: `tls:127.0.0.1:${port}`, advertise: `tls:127.0.0.1:${port}` },
          ],
        },
      },
      { id: 'r2' },
    );
    await controller.connected();
    const credentials = await stage.authority.issue('r1');
    const open = async (hello: Frame): Promise<{ peer: WirePeer; answer: Frame | undefined }> => {
      const peer = await WirePeer.open({ port, alpn: 'ziti-link', credentials });
      stage.onClose(() => peer.close());
      peer.sendBytes(encodeFrame(hello));
      await peer.until('an answer', () => peer.frames.length > 0 || peer.isClosed);
      return { peer, answer: peer.frames[0] };
    };
    // The body of 2.1 need not be the link's id.
    const first = await open({ ...vectorFrame('link_hello_first'), body: Buffer.from('r1') });
    const { headers } = first.answer!;
    assert.equal(headers.text(header.id), 'r2');
    assert.equal(
      headers.text(header.connectionId),
      vectorFrame('link_hello_first').headers.text(header.connectionId),
    );
    const verify = await controller.frame(contentType.verifyRouter);
    assert.equal(ctrlMessages.verifyRouter.decode(verify.body).routerId, 'r1');
    controller.send(makeResult(verify, true, 'router verified'));
    await until(
      'the link',
      () => router.linkCount,
      (count) => count === 1,
    );

    const join = vectorFrame('link_hello_ack_underlay');
    assert.equal(join.headers.has(header.isFirstGroupConnection), false);
    const withSecret = new Map([[header.groupSecret, headers.bytes(header.groupSecret)]]);
    const joined = await open(withHeaders(join, withSecret));
    assert.equal(joined.answer!.headers.text(header.type), 'link.ack');

    // A circuit from link to link, which is one here: what goes in comes out again.
    const circuitId = decodePayload(vectorFrame('xg_payload'))!.circuitId;
    const forwards = [{ srcAddress: 'link1', dstAddress: 'link1', dstType: DestType.LINK }];
    controller.send(ctrlMessages.route.frame({ circuitId, forwards }));
    assert.equal(decodeRouteResult(await controller.frame(contentType.routeResult))?.isSuccess, true);
    const received = (type: number): number =>
      [first.peer, joined.peer].flatMap(({ frames }) => frames.filter((frame) => frame.contentType === type))
        .length;
    first.peer.sendBytes(encodeFrame(vectorFrame('xg_payload')));
    joined.peer.sendBytes(encodeFrame(vectorFrame('xg_ack')));
    joined.peer.sendBytes(encodeFrame(vectorFrame('xg_payload')));
    first.peer.sendBytes(encodeFrame(vectorFrame('xg_ack')));
    await until(
      'payloads',
      () => received(contentType.payload),
      (count) => count === 2,
    );
    await until(
      'acknowledgements',
      () => received(contentType.acknowledgement),
      (count) => count === 2,
    );
    // Acknowledgements may take either way, payloads the default one alone.
    assert.equal(
      joined.peer.frames.some((frame) => frame.contentType === contentType.payload),
      false,
    );
  });
});

function copyOf({ contentType: type, sequence, headers, body }: Frame): Frame {
  return {
    contentType: type,
    sequence,
    headers: new FrameHeaders(Uint8Array.from(headers.raw)),
    body: Uint8Array.from(body),
  };
}
