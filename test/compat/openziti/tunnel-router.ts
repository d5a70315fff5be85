/** A router with a tunnel listener in mode proxy, OpenZiti's or ours, that `ziti edge create edge-router -t` makes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { runZiti, zitiEnvironment } from '../../support/ziti-command.ts';
import type { ZitiEdgeWorld } from './ziti-edge-world.ts';

const OURS = join(import.meta.dirname, '../../../bin/frontdoor.js');

export interface TunnelRouterOptions {
  readonly name: string;
  /** OpenZiti's program; undefined: ours. */
  readonly binary: string | undefined;
  /** `service:port` each. */
  readonly services: readonly string[];
}

export async function startTunnelRouter(
  world: ZitiEdgeWorld,
  t: { after(close: () => Promise<void>): void },
  { name, binary, services }: TunnelRouterOptions,
): Promise<void> {
  const { folder } = world;
  const at = (ending: string): string => join(folder, `${name}.${ending}`);
  const [edgePort, linkPort] = [await freePort(), await freePort()];
  const file = world.write(
    `${name}.yml`,
    `v: 3
identity: { cert: ${at('cert')}, server_cert: ${at('server.cert')}, key: ${at('key')}, ca: ${at('ca')} }
ctrl: { endpoint: "${world.up.control.ctrlAddress}" }
link:
  dialers: [{ binding: transport }]
  listeners: [{ binding: transport, bind: "tls:127.0.0.1:${linkPort}", advertise: "tls:localhost:${linkPort}" }]
metrics: { reportInterval: 2s, intervalAgeThreshold: 2s }
edge: { csr: { sans: { dns: [localhost], ip: ["127.0.0.1"] } } }
dialers: [{ binding: edge }, { binding: tunnel }]
listeners:
  - { binding: edge, address: "tls:127.0.0.1:${edgePort}", options: { advertise: "localhost:${edgePort}" } }
  - { binding: tunnel, options: { mode: proxy, services: ${JSON.stringify(services)} } }
`,
  );
  await world.edge('create', 'edge-router', name, '-t', '--jwt-output-file', at('jwt'));
  const [program, first] = binary === undefined ? [process.execPath, [OURS]] : [binary, []];
  const enrolled = await runZiti(program, folder, [...first, 'router', 'enroll', file, '--jwt', at('jwt')]);
  assert.equal(enrolled.status, 0, enrolled.output);
  const env = zitiEnvironment(folder);
  const child = spawn(program, [...first, 'router', 'run', file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  t.after(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  });
}
