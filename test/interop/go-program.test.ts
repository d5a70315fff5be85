// A program on OpenZiti's Go SDK (go-peer) at a real controller with OIDC, over our router as its only
// edge router. ZITI_BIN names `ziti` (1.7.2), and `go` is in PATH; without them: skipped.
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkGoExchanges } from '../compat/openziti/go-exchanges.ts';
import { GoPeer, skipGoPeer, type GoHost } from '../compat/openziti/go-peer.ts';
import { freePort } from '../support/free-port.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const skip = skipGoPeer();

let mesh: OpenZitiMesh;
let peer: GoPeer;
let host: GoHost;

before(async () => {
  if (skip !== false) return;
  mesh = await OpenZitiMesh.start(zitiBinary()!);
  const { network, folder } = mesh;
  peer = await GoPeer.build(folder);
  await mesh.ourRouter('ours', { edgePort: await freePort() });
  await network.allowAllRouters();
  await network.run('edge create service echo --role-attributes test --encryption ON');
  await network.enrollHostAndDialer('#test');
  host = await peer.host(join(folder, 'host.json'), 'echo');
});
after(async () => {
  await host?.kill();
  await mesh?.stop();
});

test('Go programs meet at our router: every byte back, then the end', { skip }, async () => {
  await checkGoExchanges(peer, join(mesh.folder, 'dialer.json'), 'echo');
});
