// The name server of mode tproxy as a process of its own, as a router runs it. Prints its port.
import { join } from 'node:path';
import { silentLog, systemClock } from '#base';
import { NameServer } from '#router';

export interface NameServerArguments {
  readonly folder: string;
  /** Patterns of services. */
  readonly names: readonly string[];
  readonly upstreamPort: number;
}

const { folder, names, upstreamPort } = JSON.parse(process.argv[2]!) as NameServerArguments;
const server = await NameServer.open({
  config: {
    path: 'listeners[0]',
    resolvers: [{ kind: 'udp', host: '127.0.0.1', port: 0 }],
    dnsSvcIpRange: '100.64.0.1/10',
    dnsUpstreams: [{ protocol: 'udp', host: '127.0.0.1', port: upstreamPort }],
    dnsUpstreamMode: 'parallel',
    dnsUnanswerable: 'refused',
  },
  file: join(folder, 'names'),
  placeOf: (path) => path,
  isInUse: () => false,
  clock: systemClock,
  log: silentLog,
});
for (const name of names) server.names.add(name, 'service');
console.log(server.ports[0]);
