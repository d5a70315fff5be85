/** A name server for tests in network namespaces, over UDP on 127.0.0.1: every name has one address. `dns-program.ts PORT ADDRESS` */
import { createSocket } from 'node:dgram';
import process from 'node:process';

const [portText = '', address = ''] = process.argv.slice(2);
const HEADER_BYTES = 12;
const TYPE_A = 1;
const TTL_SECONDS = 60;

const socket = createSocket('udp4', (query, from) => {
  // The name ends with an empty label; type and class follow.
  const end = query.indexOf(0, HEADER_BYTES) + 5;
  const answer = Buffer.from(query.subarray(0, end));
  const hasAddress = query.readUInt16BE(end - 4) === TYPE_A;
  answer.writeUInt16BE(0x8180, 2);
  for (const [at, count] of [1, hasAddress ? 1 : 0, 0, 0].entries()) answer.writeUInt16BE(count, 4 + 2 * at);
  const record = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, TTL_SECONDS, 0, 4]);
  const bytes = Buffer.from(address.split('.').map(Number));
  socket.send(Buffer.concat(hasAddress ? [answer, record, bytes] : [answer]), from.port, from.address);
});
socket.bind(Number(portText), '127.0.0.1', () => console.log('ready'));
