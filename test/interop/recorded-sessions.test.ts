// Two sessions with OpenZiti, seen inside of TLS: our router at a real controller with links both ways, and a real
// router at our control plane. What either side sends is known and encodes back to the same bytes. With
// FRONTDOOR_INTEROP_FRAMES=FILE the frames are written there: so test/vectors/interop-1.7.2.jsonl was made.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hexOf } from '#base';
import { encodeFrame, messageRow } from '#wire';
import { until } from '../support/deadline.ts';
import { exchange } from '../support/echo-service.ts';
import { FabricMesh } from '../support/fabric-mesh.ts';
import { frameOfHex } from '../support/recorded-frames.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { FrameRecording } from './frame-recording.ts';
import { FrameTap, type FrameTapOptions, type TapIdentity } from './frame-tap.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const OUTPUT = process.env['FRONTDOOR_INTEROP_FRAMES'];
const BODY_BYTES = 256 * 1024;
const WAIT_MS = 30_000;

let echo: Server;
const closers: (() => Promise<void>)[] = [];

before(async () => {
  echo = await startEchoOnce();
});
after(async () => {
  for (const close of closers.toReversed()) await close();
  echo.close();
});

/** Gives back what it reads and ends after as much as one exchange sends: OpenZiti's routers pass no half-close on. */
async function startEchoOnce(): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let left = BODY_BYTES;
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      socket.write(bytes);
      if ((left -= bytes.length) <= 0) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Files of routers that were enrolled below `folder`; `server.pem` shows peers of the same network a name they dial. */
function identitiesIn(folder: string, names: readonly string[]) {
  const read = (name: string, file: string): string => readFileSync(join(folder, name, file), 'utf8');
  return {
    dialers: (): TapIdentity[] =>
      names.flatMap((name) => {
        try {
          return [{ name, cert: read(name, 'cert.pem'), key: read(name, 'key.pem') }];
        } catch {
          return [];
        }
      }),
    server: (name: string) => () => ({ cert: read(name, 'server.pem'), key: read(name, 'key.pem') }),
  };
}

async function openTap(options: FrameTapOptions): Promise<FrameTap> {
  const tap = await FrameTap.open(options);
  closers.push(() => tap.close());
  return tap;
}

/** Every frame is of a known type, from either side, and a frame that was kept whole is encoded as it was sent. */
function checkRecording(recording: FrameRecording, both: readonly string[]): void {
  console.error(
    [...recording.types].map(([n, t]) => [n, [...t].join(',')]),
    recording.lines.length,
  );
  for (const name of both) assert.ok((recording.types.get(name)?.size ?? 0) > 3, `${name} sent messages`);
  for (const [name, types] of recording.types)
    for (const type of types) assert.ok(messageRow(type), `${name} sent the unknown type ${type}`);
  for (const { frame } of recording.lines)
    if (frame !== undefined) assert.equal(hexOf(encodeFrame(frameOfHex(frame))), frame);
  if (OUTPUT === undefined) return;
  for (const line of recording.lines) appendFileSync(OUTPUT, `${JSON.stringify(line)}\n`);
}

test(
  'all messages between our router and a real controller, and between both makes of routers on a link, are of known types',
  { skip },
  async () => {
    const mesh = await OpenZitiMesh.start(BINARY!);
    closers.push(() => mesh.stop());
    const recording = new FrameRecording('our router at a real controller');
    const onFrame = (frame: Parameters<typeof recording.add>[0]): void => recording.add(frame);
    const names = ['go-listens', 'ours', 'go-dials'];
    const { dialers, server } = identitiesIn(mesh.folder, names);
    const listening = await FabricMesh.freePort();
    const accepting = await FabricMesh.freePort();
    const [goDoor, ourDoor] = [await FabricMesh.freePort(), await FabricMesh.freePort()];
    const link = (name: string, port: number): Promise<FrameTap> =>
      openTap({ alpn: 'ziti-link', target: { name, port }, server: server(name), dialers, onFrame });
    const controller = { name: 'controller', port: mesh.network.controllerPort };
    const ctrl = await openTap({
      alpn: 'ziti-ctrl',
      target: controller,
      dialers,
      onFrame,
      server: server('ours'),
    });

    await mesh.goRouter('go-listens', {
      linkListener: {
        port: listening,
        groups: ['go'],
        advertisedPort: (await link('go-listens', listening)).port,
      },
    });
    const ours = await mesh.ourRouter('ours', {
      linkListener: {
        port: accepting,
        groups: ['ours'],
        advertisedPort: (await link('ours', accepting)).port,
      },
      dialGroups: ['go'],
      controllerPort: ctrl.port,
      proxy: { port: ourDoor, service: 'echo' },
    });
    await mesh.goRouter('go-dials', { dialGroups: ['ours'], proxy: { port: goDoor, service: 'echo' } });
    await mesh.service('echo', 'go-listens', (echo.address() as AddressInfo).port);
    await until(
      'both links',
      () => mesh.links(),
      (links) => links.length >= 2,
      WAIT_MS,
    );
    await until(
      'every connection of both links',
      () => recording.connected('link'),
      (count) => count >= 8,
      WAIT_MS,
    );
    for (const port of [goDoor, ourDoor]) {
      const { sent, received } = await exchange(port, BODY_BYTES);
      assert.equal(received, sent);
    }
    await until(
      'all circuits over',
      () => mesh.paths(),
      (paths) => paths.length === 0,
      WAIT_MS,
    );
    assert.equal(await ours.stop(), 0);
    checkRecording(recording, [...names, 'controller']);
  },
);

test(
  'all messages between a real router and our control plane, and between both makes of routers on a link, are of known types',
  { skip },
  async () => {
    const mesh = await FabricMesh.start();
    closers.push(() => mesh.stop());
    const recording = new FrameRecording('a real router at our control plane');
    const onFrame = (frame: Parameters<typeof recording.add>[0]): void => recording.add(frame);
    const names = ['go', 'ours'];
    const { dialers, server } = identitiesIn(mesh.folder, names);
    const listening = await FabricMesh.freePort();
    const [goDoor, ourDoor] = [await FabricMesh.freePort(), await FabricMesh.freePort()];
    const controller = { name: 'control plane', port: mesh.controllerPort };
    const ctrl = await openTap({
      alpn: 'ziti-ctrl',
      target: controller,
      dialers,
      onFrame,
      server: server('go'),
    });
    const link = await openTap({
      alpn: 'ziti-link',
      target: { name: 'go', port: listening },
      dialers,
      onFrame,
      server: server('go'),
    });
    const go = await mesh.goRouter(BINARY!, 'go', {
      linkListener: { port: listening, groups: ['go'], advertisedPort: link.port },
      controllerPort: ctrl.port,
      proxy: { port: goDoor, service: 'behind-ours' },
    });
    const ours = await mesh.router('ours', {
      dialGroups: ['go'],
      proxy: { port: ourDoor, service: 'behind-go' },
    });
    await mesh.untilLinked(ours, go);
    await until(
      'every connection of the link',
      () => recording.connected('link'),
      (count) => count >= 4,
      WAIT_MS,
    );
    const { port } = echo.address() as AddressInfo;
    await mesh.service('behind-go', go, `tcp:127.0.0.1:${port}`);
    await mesh.service('behind-ours', ours.id, `tcp:127.0.0.1:${port}`);
    for (const door of [ourDoor, goDoor]) {
      const { sent, received } = await exchange(door, BODY_BYTES);
      assert.equal(received, sent);
    }
    await until(
      'all circuits over',
      () => mesh.list('circuits'),
      (circuits) => circuits.length === 0,
      WAIT_MS,
    );
    checkRecording(recording, [...names, 'control plane']);
  },
);
