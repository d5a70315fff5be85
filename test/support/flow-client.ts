/**
 * Opens many flows to an echo at once, sends twice over each, and prints how many got both echoes:
 * `flow-client.ts tcp|udp HOST PORT COUNT`.
 */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import process from 'node:process';

const ROUNDS = 2;
const RESEND_MS = 1_000;
const DEADLINE_MS = 40_000;

const [protocol, host = '', port = '', count = ''] = process.argv.slice(2);

function overTcp(index: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host, port: Number(port) });
  const text = `flow ${index} `;
  let received = '';
  socket.on('error', reject);
  socket.once('connect', () => socket.write(text));
  socket.on('data', (data) => {
    received += String(data);
    if (received === text) socket.end(text);
  });
  socket.on('end', () => (received === text.repeat(ROUNDS) ? resolve() : reject(new Error(received))));
  return promise;
}

/** A datagram may be lost, so each is sent again until its echo comes. */
function overUdp(index: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = createSocket('udp4');
  let round = 0;
  const send = (): void => socket.send(`flow ${index} ${round}`, Number(port), host);
  const timer = setInterval(send, RESEND_MS);
  socket.on('message', (echo, { address, port: from }) => {
    if (String(echo) !== `flow ${index} ${round}` || address !== host || from !== Number(port)) return;
    round += 1;
    if (round < ROUNDS) send();
    else {
      clearInterval(timer);
      resolve();
    }
  });
  socket.bind(send);
  return promise;
}

let done = 0;
const report = (): never => {
  console.log(done);
  process.exit(0);
};
setTimeout(report, DEADLINE_MS);
const flows = Array.from({ length: Number(count) }, (_, index) =>
  (protocol === 'tcp' ? overTcp(index) : overUdp(index)).then(
    () => void (done += 1),
    () => {},
  ),
);
await Promise.all(flows);
report();
