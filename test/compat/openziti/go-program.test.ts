// A program on OpenZiti's Go SDK (go-peer) at our control plane and router: it dials our agent, is dialed by our SDK, and
// meets itself. ZITI_BIN (1.7.2) enrolls it, and `go` builds it; without them: skipped.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { OverlayClient } from '#sdk';
import { until, within } from '../../support/deadline.ts';
import { openWorld, type World } from '../../support/world.ts';
import { zitiBinary } from '../../support/ziti-command.ts';
import { checkGoExchanges } from './go-exchanges.ts';
import { GoPeer, skipGoPeer } from './go-peer.ts';
import { enrollGo, type GoIdentity } from './tunneler.ts';

const skip = skipGoPeer();
const DIAL_MS = 10_000;
const ENDLESS_BYTES = 2_000_000_000;

let world: World;
let peer: GoPeer;
let dialer: GoIdentity;
let host: GoIdentity;
/** Connections that the echo behind our agent holds. */
let open = 0;
const echo = createServer({ allowHalfOpen: true }, (socket) => {
  open += 1;
  socket.on('close', () => (open -= 1));
  socket.on('error', () => socket.destroy());
  socket.pipe(socket);
});

before(async () => {
  if (skip !== false) return;
  world = await openWorld();
  const folder = join(world.dataDir, 'go');
  mkdirSync(folder);
  peer = await GoPeer.build(folder);
  const place = { binary: zitiBinary()!, folder };
  dialer = await enrollGo(world, { ...place, name: 'dialer' });
  host = await enrollGo(world, { ...place, name: 'host' });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  const agent = await world.startAgent('agent');
  const target = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
  await agent.share(target, { name: 'echo', mode: 'private', grants: [dialer.environmentId] });
});
after(async () => {
  await world?.close();
  echo.close();
});

test('the Go SDK dials our agent: every byte back, then the end', { skip }, async () => {
  await checkGoExchanges(peer, dialer.file, 'echo');
});

test('a Go dialer that is killed leaves no connection at the service', { skip }, async () => {
  await until(
    'no connection before',
    () => open,
    (count) => count === 0,
  );
  const begun = until(
    'a connection',
    () => open,
    (count) => count === 1,
  );
  await peer.dialAndDie(dialer.file, 'echo', ENDLESS_BYTES, begun);
  await until(
    'no connection afterwards',
    () => open,
    (count) => count === 0,
  );
});

test(
  'the Go SDK hosts: it is dialed by itself and by our SDK, and not once it is killed',
  { skip },
  async (t) => {
    const guest = await world.enrollEnvironment('guest');
    const answer = await world.call('POST', '/shares', {
      environmentId: host.environmentId,
      backendMode: 'proxy',
      target: 'http://127.0.0.1:1',
      name: 'go-echo',
      shareMode: 'private',
      grants: [dialer.environmentId, guest.id],
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.json));
    const hosting = await peer.host(host.file, 'go-echo');
    t.after(() => hosting.kill());
    await checkGoExchanges(peer, dialer.file, 'go-echo');

    const overlay = new OverlayClient({ api: guest.api, log: silentLog, name: 'guest' });
    t.after(() => overlay.close());
    const service = await guest.api.serviceByName('go-echo');
    const circuit = await overlay.dial(service!.id, DIAL_MS, { isEncryptionRequired: true });
    const sent = randomBytes(3_000_000);
    const parts: Uint8Array[] = [];
    circuit.onData = (view) => void parts.push(view);
    const ended = new Promise<void>((resolve) => {
      circuit.onEnd = resolve;
    });
    circuit.resume();
    circuit.write(sent);
    circuit.end();
    await within('the end of the echo', ended);
    assert.ok(Buffer.concat(parts).equals(sent));

    await hosting.kill();
    await until(
      'refused dials',
      () =>
        overlay.dial(service!.id, DIAL_MS).then(
          (still) => {
            still.destroy();
            return 'a circuit';
          },
          (error: unknown) => String(error),
        ),
      (result) => result !== 'a circuit',
    );
  },
);
