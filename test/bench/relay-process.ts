// The plain byte relay that we compare with: takes TCP or TLS connections, dials TCP or TLS, pipes both ways; nothing
// else. Arguments as JSON; prints its port.
import * as net from 'node:net';
import { pipeline } from 'node:stream';
import * as tls from 'node:tls';

interface RelayArguments {
  readonly acceptTls: boolean;
  readonly dialTls: boolean;
  readonly targetPort: number;
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

const { acceptTls, dialTls, targetPort, cert, key, ca } = JSON.parse(process.argv[2]!) as RelayArguments;

function relay(socket: net.Socket): void {
  const to = { host: '127.0.0.1', port: targetPort };
  const target = dialTls ? tls.connect({ ...to, cert, key, ca, servername: 'localhost' }) : net.connect(to);
  target.setNoDelay(true);
  socket.setNoDelay(true);
  const done = (): void => {
    socket.destroy();
    target.destroy();
  };
  pipeline(socket, target, done);
  pipeline(target, socket, done);
}

const server = acceptTls ? tls.createServer({ cert, key, ca }, relay) : net.createServer(relay);
server.listen(0, '127.0.0.1', () => console.log((server.address() as net.AddressInfo).port));
