// A client of a private share: each connection at its port is a circuit. Arguments as JSON; prints the id of its
// identity, and once it has read a line, its port.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { silentLog } from '#base';
import {
  EdgeApiClient,
  enrollIdentity,
  fetchBootstrapToken,
  OverlayClient,
  useForeignCipher,
  type Circuit,
} from '#sdk';

export interface DoorArguments {
  readonly apiUrl: string;
  /** CA certificates of the Management API (PEM). */
  readonly ca: string;
  /** An enrollment code. */
  readonly code: string;
  readonly name: string;
}

const DIAL_MS = 10_000;
const LISTED_MS = 30_000;

/** Bytes both ways, with back-pressure and half-close. */
function join(socket: Socket, circuit: Circuit): void {
  circuit.onData = (view) => {
    if (!socket.write(view)) circuit.pause();
  };
  circuit.onEnd = () => void socket.end();
  circuit.onDrain = () => void socket.resume();
  circuit.onClose = (error) => {
    if (error !== undefined) socket.destroy();
  };
  socket.on('drain', () => circuit.resume());
  socket.on('data', (chunk: Buffer) => {
    if (!circuit.write(chunk)) socket.pause();
  });
  socket.on('end', () => circuit.end());
  socket.on('close', () => circuit.destroy());
  circuit.resume();
}

async function main({ apiUrl, ca, code, name }: DoorArguments): Promise<void> {
  const { token } = await fetchBootstrapToken({ apiUrl, code, ca });
  const { identity, id } = await enrollIdentity({ jwt: token, name });
  // The line that is written to this process means that the identity has its grant.
  process.stdout.write(`${id}\n`);
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const api = new EdgeApiClient({ identity, log: silentLog });
  const overlay = new OverlayClient({ api, log: silentLog, name });
  const deadline = performance.now() + LISTED_MS;
  let serviceId: string | undefined;
  while (serviceId === undefined) {
    if (performance.now() > deadline) throw new Error(`${name} sees no service`);
    serviceId = (await api.services()).find(({ permissions }) => permissions.includes('Dial'))?.id;
  }
  const dialed = serviceId;
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    overlay.dial(dialed, DIAL_MS).then(
      (circuit) => {
        join(socket, circuit);
        socket.resume();
      },
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        socket.destroy();
      },
    );
  });
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  });
}

useForeignCipher();
process.once('SIGTERM', () => process.exit(0));
await main(JSON.parse(process.argv[2]!) as DoorArguments);
