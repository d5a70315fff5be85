// A client of a private share: each connection at its port is a circuit. Arguments as JSON; prints the id of its
// identity, and once it has read a line, its port.
import { once } from 'node:events';
import { silentLog } from '#base';
import { EdgeApiClient, enrollIdentity, fetchBootstrapToken, OverlayClient } from '#sdk';
import { AccessListener } from '../../support/share-listener.ts';

export interface DoorArguments {
  readonly apiUrl: string;
  /** CA certificates of the Management API (PEM). */
  readonly ca: string;
  /** An enrollment code. */
  readonly code: string;
  readonly name: string;
}

const LISTED_MS = 30_000;

process.once('SIGTERM', () => process.exit(0));
const { apiUrl, ca, code, name } = JSON.parse(process.argv[2]!) as DoorArguments;
const { token } = await fetchBootstrapToken({ apiUrl, code, ca });
const { identity, id } = await enrollIdentity({ jwt: token, name });
// The line that is written to this process means that the identity has its grant.
process.stdout.write(`${id}\n`);
await once(process.stdin, 'data');
const api = new EdgeApiClient({ identity, log: silentLog });
const overlay = new OverlayClient({ api, log: silentLog, name });
const deadline = performance.now() + LISTED_MS;
let share: string | undefined;
while (share === undefined) {
  if (performance.now() > deadline) throw new Error(`${name} sees no service`);
  share = (await api.services()).find(({ permissions }) => permissions.includes('Dial'))?.id;
}
const { port } = await AccessListener.open({
  share,
  host: '127.0.0.1',
  port: 0,
  log: silentLog,
  dial: (serviceId, timeoutMs) => overlay.dial(serviceId, timeoutMs),
});
process.stdout.write(`${port}\n`);
