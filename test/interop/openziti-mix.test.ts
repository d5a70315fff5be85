// Each kind of host with each kind of dialer at OpenZiti's controller: `test/support/mixed-hosts-suite.ts`. ZITI_BIN names
// `ziti` (1.7.2); without it: skipped.
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { mixedHosts, MIXES, mixSkip } from '../support/mixed-hosts-suite.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const KEPT_CHARS = 6_000;

const checkMix = mixedHosts(async (binary) => {
  const mesh = await OpenZitiMesh.start(binary);
  const { network, folder } = mesh;
  return {
    folder,
    edge: (line, ...more) => network.run(`edge ${line}`, ...more),
    async startRouter(name, services) {
      const edgePort = await freePort();
      const address = `tls:127.0.0.1:${edgePort}`;
      const listeners = [
        { binding: 'edge', address, options: { advertise: `localhost:${edgePort}` } },
        { binding: 'tunnel', options: { mode: 'proxy', services } },
      ];
      await mesh.ourRouter(name, { edgePort, isTunneler: true, sections: { listeners } });
    },
    async startTunnels(identityFile, services) {
      const common = `-i ${identityFile} --cli-agent=false`;
      await network.start('host', `tunnel host ${common}`);
      const port = Number(services[0]!.split(':')[1]);
      await network.start('dialer', `tunnel proxy ${common} ${services.join(' ')}`, port);
    },
    output: () =>
      [mesh.ourOutput, network.tail('host'), network.tail('dialer')]
        .map((text) => text.slice(-KEPT_CHARS))
        .join('\n'),
    close: () => mesh.stop(),
  };
});

for (const [host, dialer] of MIXES)
  test(`hosted by ${host}, dialed by ${dialer}: every byte returns`, { skip: mixSkip(host, dialer) }, () =>
    checkMix(host, dialer),
  );
