// Each kind of host with each kind of dialer at our control plane: `test/support/mixed-hosts-suite.ts`. ZITI_BIN names `ziti`
// (1.7.2); without it: skipped.
import { test } from 'node:test';
import { mixedHosts, MIXES, mixSkip } from '../../support/mixed-hosts-suite.ts';
import { startTunnelRouter } from './tunnel-router.ts';
import { openZitiEdgeWorld } from './ziti-edge-world.ts';

const checkMix = mixedHosts(async (binary) => {
  const world = await openZitiEdgeWorld(binary);
  const closers: (() => Promise<void>)[] = [];
  return {
    folder: world.folder,
    edge: (line, ...more) => world.edge(...line.split(' '), ...more),
    async startRouter(name, services) {
      const ended = { after: (close: () => Promise<void>) => void closers.push(close) };
      await startTunnelRouter(world, ended, { name, binary: undefined, services });
    },
    async startTunnels(identityFile, services) {
      world.tunnel(identityFile, 'host');
      world.tunnel(identityFile, 'proxy', ...services);
    },
    output: () => '',
    async close() {
      for (const close of closers) await close();
      await world.close();
    },
  };
});

for (const [host, dialer] of MIXES)
  test(`hosted by ${host}, dialed by ${dialer}: every byte returns`, { skip: mixSkip(host, dialer) }, () =>
    checkMix(host, dialer),
  );
