/**
 * Keeps many flows to an echo open, half of them over TCP and half over UDP, and sends on each now and then. It prints
 * `round N` when every flow got an echo, and N counts the lines of its standard input before. A flow of TCP that is lost is
 * opened again: `load-client.ts HOST PORT COUNT`.
 */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import process from 'node:process';

const SEND_MS = 500;
const RECONNECT_MS = 100;

const [host = '', port = '', count = ''] = process.argv.slice(2);
const total = Number(count);
let round = 0;
const done = new Set<string>();

/** An echo of this round. Those of earlier rounds do not count. */
function onEcho(flow: string, text: string): void {
  if (!text.includes(` ${round};`) || done.has(flow)) return;
  done.add(flow);
  if (done.size === total) console.log(`round ${round}`);
}

function overTcp(flow: string): void {
  const socket = connect({ host, port: Number(port) });
  const send = (): void => void socket.write(`${flow} ${round};`);
  const timer = setInterval(send, SEND_MS);
  socket.once('connect', send);
  socket.on('data', (data) => onEcho(flow, String(data)));
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(timer);
    setTimeout(() => overTcp(flow), RECONNECT_MS);
  });
}

function overUdp(flow: string): void {
  const socket = createSocket('udp4');
  const send = (): void => socket.send(`${flow} ${round};`, Number(port), host, () => {});
  socket.on('message', (echo) => onEcho(flow, String(echo)));
  socket.on('error', () => {});
  socket.bind(() => {
    send();
    setInterval(send, SEND_MS);
  });
}

for (let index = 0; index < total; index += 1) (index % 2 === 0 ? overTcp : overUdp)(`flow ${index}`);
process.stdin.on('data', () => {
  round += 1;
  done.clear();
});
process.stdin.on('end', () => process.exit());
