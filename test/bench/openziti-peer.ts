/**
 * A whole OpenZiti network beside the product, made new for each run by the `ziti` that ZITI_BIN names: controller,
 * edge router, `ziti tunnel host` at the private service, `ziti tunnel proxy` for clients. All addresses are on
 * loopback; all other settings are defaults, end-to-end encryption among them.
 */
import { OpenZitiMesh } from '../interop/openziti-mesh.ts';
import { freePort } from '../support/child-process.ts';
import type { BenchRun } from './bench-run.ts';
import { untilAnswers } from './check-client.ts';
import type { OutsidePeer } from './outside-peers.ts';

export const OPENZITI = 'OpenZiti';
/** Linux calls its loopback interface so; `ziti tunnel proxy` takes interfaces, not addresses. */
const LOOPBACK_INTERFACE = 'lo';

/**
 * From nothing to the first answer of the private service through it. Throws the output of `ziti` when a step fails. It ends
 * with the run.
 */
export async function startOpenZiti(
  run: BenchRun,
  binary: string,
  servicePort: number,
): Promise<OutsidePeer> {
  const mesh = run.keep(await OpenZitiMesh.start(binary));
  const { network } = mesh;
  await mesh.goRouter('router', { edgePort: await freePort() });
  await network.allowAllRouters();
  const port = await freePort();
  const host = { protocol: 'tcp', address: '127.0.0.1', port: servicePort };
  const proxy = { protocols: ['tcp'], port, binding: LOOPBACK_INTERFACE };
  await network.run('edge create config bench-host host.v1', JSON.stringify(host));
  await network.run('edge create config bench-proxy proxy.v1', JSON.stringify(proxy));
  await network.run('edge create service bench --configs bench-host,bench-proxy');
  await network.enrollHostAndDialer('@bench');
  await network.start('tunnel host', 'tunnel host -i host.json --cli-agent=false');
  await network.start('tunnel proxy', 'tunnel proxy -i dialer.json --cli-agent=false', port);
  await untilAnswers({ port, host: OPENZITI });
  return { name: OPENZITI, port, processes: network.processes };
}
