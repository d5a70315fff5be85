/**
 * A whole OpenZiti network beside the product, made new for each run by the `ziti` that ZITI_BIN names: controller,
 * edge router, `ziti tunnel host` at the private service, `ziti tunnel proxy` for clients. All addresses are on
 * loopback; all other settings are defaults, end-to-end encryption among them.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { OpenZitiNetwork } from '../support/openziti-network.ts';
import { freePort } from './bench-process.ts';
import type { OutsidePeer } from './outside-peers.ts';
import { untilServed } from './product.ts';

export const OPENZITI = 'OpenZiti';
/** Linux calls its loopback interface so; `ziti tunnel proxy` takes interfaces, not addresses. */
const LOOPBACK_INTERFACE = 'lo';

interface Ports {
  readonly controller: number;
  readonly edge: number;
  readonly proxy: number;
}

function routerFile(folder: string, { controller, edge }: Ports): string {
  return `v: 3
identity:
  cert: "${join(folder, 'router.cert')}"
  server_cert: "${join(folder, 'router.server.cert')}"
  key: "${join(folder, 'router.key')}"
  ca: "${join(folder, 'router.ca')}"
ctrl:
  endpoint: tls:localhost:${controller}
link:
  dialers:
    - binding: transport
listeners:
  - binding: edge
    address: tls:127.0.0.1:${edge}
    options:
      advertise: localhost:${edge}
edge:
  csr:
    sans:
      dns: [localhost]
      ip: ["127.0.0.1"]
`;
}

async function startRouter(network: OpenZitiNetwork, folder: string, ports: Ports): Promise<void> {
  network.file('router.yaml', routerFile(folder, ports));
  await network.run('edge create edge-router router -o router.jwt');
  await network.run('router enroll router.yaml --jwt router.jwt');
  await network.start('router', 'run router router.yaml --cliagent=false', ports.edge);
  await network.allowAllRouters();
}

/** The service, and the policies that let identities host and dial it. */
async function makeService(network: OpenZitiNetwork, servicePort: number, ports: Ports): Promise<void> {
  const host = { protocol: 'tcp', address: '127.0.0.1', port: servicePort };
  const proxy = { protocols: ['tcp'], port: ports.proxy, binding: LOOPBACK_INTERFACE };
  await network.run('edge create config bench-host host.v1', JSON.stringify(host));
  await network.run('edge create config bench-proxy proxy.v1', JSON.stringify(proxy));
  await network.run('edge create service bench --configs bench-host,bench-proxy');
  await network.enrollHostAndDialer('@bench');
}

/**
 * From an empty `folder` to the first answer of the private service through it. Throws the output of `ziti` when a
 * step fails; all processes are stopped then.
 */
export async function startOpenZiti(
  binary: string,
  folder: string,
  servicePort: number,
): Promise<OutsidePeer & { stop(): Promise<void> }> {
  mkdirSync(folder, { recursive: true });
  const network = await OpenZitiNetwork.start(binary, folder);
  const ports = { controller: network.controllerPort, edge: await freePort(), proxy: await freePort() };
  try {
    await startRouter(network, folder, ports);
    await makeService(network, servicePort, ports);
    await network.start('tunnel host', 'tunnel host -i host.json --cli-agent=false');
    await network.start('tunnel proxy', 'tunnel proxy -i dialer.json --cli-agent=false', ports.proxy);
    await untilServed(ports.proxy, OPENZITI, '/small');
    return {
      name: OPENZITI,
      port: ports.proxy,
      processes: network.processes,
      stop: () => network.stop(),
    };
  } catch (error) {
    await network.stop();
    throw error;
  }
}
