// What the sections of a router's file make of it, over a mesh of real processes at our control plane: circuits over
// several hops through proxy and transport listeners, and what is missing where a section is.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import * as tls from 'node:tls';
import { until, within } from '../support/deadline.ts';
import { exchange, startEcho } from '../support/echo-service.ts';
import { FabricMesh, type MeshRouter } from '../support/fabric-mesh.ts';
import { canListListeningPorts, listeningPorts } from '../support/listening-ports.ts';

const BODY_BYTES = 4 * 1024 * 1024;
const SOURCES = 1_000;
/** So many datagrams fit into the buffer of a socket. */
const SOURCES_AT_ONCE = 50;
const ABSENT = { dialers: undefined, listeners: undefined };

let mesh: FabricMesh;
let echo: Server;
let entry: MeshRouter;
let middle: MeshRouter;
let exit: MeshRouter;
let silent: MeshRouter;
let alone: MeshRouter;
const ports = { middle: 0, exit: 0, silent: 0, proxy: 0, named: 0, alone: 0, many: 0, killed: 0 };

before(async () => {
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await FabricMesh.freePort();
  echo = await startEcho();
  mesh = await FabricMesh.start();
  const tcp = (port: number): string => `tcp:127.0.0.1:${port}`;
  // Links lead from entry to middle and from there to exit and silent: no shorter way.
  [middle, exit, silent, alone] = await Promise.all([
    mesh.router('middle', {
      linkListener: { port: ports.middle, groups: ['near'] },
      dialGroups: ['far'],
      sections: ABSENT,
    }),
    mesh.router('exit', {
      linkListener: { port: ports.exit, groups: ['far'] },
      sections: { listeners: undefined, dialers: [{ binding: 'transport', options: { mtu: 700 } }] },
    }),
    mesh.router('silent', { linkListener: { port: ports.silent, groups: ['far'] }, sections: ABSENT }),
    mesh.router('alone', {
      sections: {
        link: undefined,
        listeners: [{ binding: 'proxy', address: tcp(ports.alone), service: 'at-alone' }],
      },
    }),
  ]);
  entry = await mesh.router('entry', {
    dialGroups: ['near'],
    sections: {
      dialers: undefined,
      listeners: [
        { binding: 'proxy', address: tcp(ports.proxy), service: 'echo', options: { mtu: 900 } },
        { binding: 'transport', bind: tcp(ports.named), advertise: `localhost:${ports.named}` },
        { binding: 'proxy_udp', address: `udp:127.0.0.1:${ports.proxy}`, service: 'datagrams' },
        { binding: 'proxy_udp', address: `udp:127.0.0.1:${ports.many}`, service: 'many' },
        { binding: 'proxy_udp', address: `udp:127.0.0.1:${ports.killed}`, service: 'killed' },
      ],
    },
  });
  const address = tcp((echo.address() as AddressInfo).port);
  await mesh.service('echo', exit.id, address);
  await mesh.service('at-silent', silent.id, address);
  await mesh.service('at-alone', alone.id, address);
  await mesh.untilLinked(entry, middle);
  await mesh.untilLinked(middle, exit);
  await mesh.untilLinked(middle, silent);
});
afterEach((context) => {
  if ('passed' in context && context.passed === false) console.error(mesh?.output.slice(-8_000));
});
after(async () => {
  await mesh?.stop();
  echo?.close();
});

/** Names a service as a client of a transport listener does; resolves to the answer, the connection stays. */
async function ask(service: string): Promise<{ socket: Socket; answer: Record<string, unknown> }> {
  const socket = connect({ port: ports.named, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  socket.write(`${JSON.stringify({ id: 'client', svcId: service })}\n`);
  let line = '';
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  const onData = (chunk: Buffer): void => {
    line += chunk.toString('latin1');
    const end = line.indexOf('\n');
    if (end < 0) return;
    socket.off('data', onData).pause();
    // The first bytes of the service may arrive with it.
    if (end + 1 < line.length) socket.unshift(Buffer.from(line.slice(end + 1), 'latin1'));
    resolve(JSON.parse(Buffer.from(line.slice(0, end), 'latin1').toString()) as Record<string, unknown>);
  };
  socket.on('data', onData).on('close', () => reject(new Error(`closed after ${line}`)));
  return { socket, answer: await within('the answer of the transport listener', promise, 30_000) };
}

/** All that comes until the other side ends; its own side stays open, which iterating over a socket would end. */
function text(socket: Socket): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let all = '';
  socket.setEncoding('utf8').on('data', (part: string) => (all += part));
  socket
    .resume()
    .once('end', () => resolve(all))
    .once('close', () => reject(new Error(`broken off after ${all}`)));
  return promise;
}

/** A service of the test behind `exit`; each of its connections is handed over. */
async function serve(name: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await mesh.service(name, exit.id, `tcp:127.0.0.1:${(server.address() as AddressInfo).port}`);
  return server;
}

test('a proxy listener’s connections become circuits over several hops, whole both ways', async () => {
  let paths: unknown[] = [];
  const { sent, received } = await exchange(ports.proxy, BODY_BYTES, async () => {
    const { value: circuits } = await until(
      'a circuit',
      () => mesh.list('circuits'),
      (rows) => rows.length > 0,
    );
    paths = circuits.map((row) => row['routerIds']);
  });
  assert.equal(received, sent);
  assert.deepEqual(paths, [[entry.id, middle.id, exit.id]]);
  // All of it goes when the connection does.
  await until(
    'no circuit',
    () => mesh.list('circuits'),
    (rows) => rows.length === 0,
  );
});

// Before the datagrams, whose payloads are larger.
test('options of a listener and of a dialer hold for their circuits, each at its end', async () => {
  const { sent, received } = await exchange(ports.proxy, 100_000);
  assert.equal(received, sent);
  const answer = JSON.parse(await mesh.run('fabric', 'inspect', 'metrics', '--json')) as {
    values: { routerId: string; value: { histograms: Record<string, { max: number } | undefined> } }[];
  };
  const largest = ({ id }: MeshRouter, name: string): number | undefined =>
    answer.values.find(({ routerId }) => routerId === id)!.value.histograms[name]?.max;
  assert.equal(largest(exit, 'egress.tx.msgsize'), 900);
  assert.equal(largest(entry, 'ingress.tx.msgsize'), 700);
});

test('datagrams of a proxy_udp listener reach a service over several hops, each source its own circuit', async (t) => {
  const service = createSocket('udp4', (data, { port }) => service.send(data, port, '127.0.0.1'));
  t.after(() => void service.close());
  await new Promise<void>((resolve) => service.bind(0, '127.0.0.1', resolve));
  await mesh.service('datagrams', exit.id, `udp:127.0.0.1:${service.address().port}`);
  for (const size of [1, 700, 701, 30_000]) {
    const client = createSocket('udp4');
    t.after(() => void client.close());
    const answer = within(
      'the answer',
      new Promise<Buffer>((resolve) => void client.once('message', resolve)),
    );
    client.send(Buffer.alloc(size, 'x'), ports.proxy, '127.0.0.1');
    assert.equal((await answer).length, size);
  }
});

test('a client of a transport listener names its service in a line of JSON, and ends its side first', async (t) => {
  const asked: Promise<string>[] = [];
  const server = await serve('answers-last', (socket) => {
    const request = text(socket);
    asked.push(request);
    void request.then((all) => socket.end(`received ${all.length}`));
  });
  t.after(() => server.close());
  const { socket, answer } = await ask('answers-last');
  assert.deepEqual([answer['scc'], answer['msg']], [true, '']);
  assert.match(String(answer['circuitId']), /./);
  socket.end('x'.repeat(100_000));
  assert.equal(await within('the answer after the end', text(socket)), 'received 100000');
  assert.equal((await asked[0]!).length, 100_000);
});

test('the service ends its side first, and still receives everything from the client', async (t) => {
  const receivedText = Promise.withResolvers<string>();
  const server = await serve('ends-first', (socket) => {
    socket.end('bye');
    receivedText.resolve(text(socket));
  });
  t.after(() => server.close());
  const { socket, answer } = await ask('ends-first');
  assert.equal(answer['scc'], true);
  assert.equal(await within('the bytes of the service', text(socket)), 'bye');
  socket.end('late words');
  assert.equal(await within('the bytes that the client sent afterwards', receivedText.promise), 'late words');
});

test('a router without dialers terminates no circuit: the client gets an error', async () => {
  const { socket, answer } = await ask('at-silent');
  socket.destroy();
  assert.equal(answer['scc'], false);
  assert.match(String(answer['msg']), /\bdialers\b/);
});

test('a router without link has no links in any direction, and no service behind it is reached through other routers', async () => {
  const links = await mesh.list('links');
  const ends = new Set(links.flatMap((row) => [row['sourceRouterId'], row['destinationRouterId']]));
  assert.deepEqual(ends, new Set([entry.id, middle.id, exit.id, silent.id]));
  const { socket, answer } = await ask('at-alone');
  socket.destroy();
  assert.equal(answer['scc'], false);
  // What needs no other router works there.
  const { sent, received } = await exchange(ports.alone, 100_000);
  assert.equal(received, sent);
});

test(
  'a router listens only at the addresses of its file: without listeners on no port for clients',
  { skip: canListListeningPorts ? false : 'needs /proc' },
  () => {
    const expected: readonly [MeshRouter, readonly number[]][] = [
      [entry, [ports.proxy, ports.named]],
      [middle, [ports.middle]],
      [exit, [ports.exit]],
      [alone, [ports.alone]],
    ];
    for (const [router, listed] of expected)
      assert.deepEqual(
        listeningPorts(router.process.pid),
        listed.toSorted((a, b) => a - b),
        router.name,
      );
  },
);

test('a router without edge refuses SDKs at the port where it takes links', async () => {
  const offer = async (protocol: string): Promise<string> => {
    const socket = tls.connect({
      host: '127.0.0.1',
      port: ports.middle,
      rejectUnauthorized: false,
      ALPNProtocols: [protocol],
    });
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.once('secureConnect', () => resolve(String(socket.alpnProtocol)));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed'));
    const outcome = await within('the end of the handshake', promise);
    socket.destroy();
    return outcome;
  };
  assert.equal(await offer('ziti-edge'), 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
  assert.equal(await offer('ziti-link'), 'ziti-link');
});

test('a thousand sources of datagrams have circuits at once, and each gets its own answers only', async (t) => {
  const sources = new Set<number>();
  const service = createSocket('udp4', (data, { port }) => {
    sources.add(port);
    service.send(data, port, '127.0.0.1');
  });
  t.after(() => void service.close());
  await new Promise<void>((resolve) => service.bind(0, '127.0.0.1', resolve));
  await mesh.service('many', exit.id, `udp:127.0.0.1:${service.address().port}`);
  const clients = Array.from({ length: SOURCES }, () => createSocket('udp4'));
  t.after(() => {
    for (const client of clients) client.close();
  });
  const wrong: string[] = [];
  const exchangeWith = (index: number, round: number): Promise<void> => {
    const client = clients[index]!;
    const data = `${index} in round ${round}`;
    const { promise, resolve } = Promise.withResolvers<void>();
    client.once('message', (answer) => {
      if (answer.toString() !== data) wrong.push(`${data}: ${answer.toString()}`);
      resolve();
    });
    client.send(data, ports.many, '127.0.0.1');
    return promise;
  };
  for (const round of [1, 2])
    for (let at = 0; at < SOURCES; at += SOURCES_AT_ONCE)
      await within(
        `the answers of round ${round} from ${at} on`,
        Promise.all(Array.from({ length: SOURCES_AT_ONCE }, (_, i) => exchangeWith(at + i, round))),
      );
  assert.deepEqual(wrong, []);
  // Nothing came twice, and no source lost its circuit between the rounds.
  assert.equal(sources.size, SOURCES);
});

test('sources of datagrams get new circuits when the router of their service was killed and is back', async (t) => {
  const service = createSocket('udp4', (data, { port }) => service.send(data, port, '127.0.0.1'));
  t.after(() => void service.close());
  await new Promise<void>((resolve) => service.bind(0, '127.0.0.1', resolve));
  await mesh.service('killed', exit.id, `udp:127.0.0.1:${service.address().port}`);
  const clients = Array.from({ length: SOURCES_AT_ONCE }, () => createSocket('udp4'));
  t.after(() => {
    for (const client of clients) client.close();
  });
  const answers = new Set<string>();
  for (const [index, client] of clients.entries())
    client.on(
      'message',
      (data) => void (data.toString().startsWith(`${index} `) && answers.add(data.toString())),
    );
  const untilAnswered = (text: string): Promise<unknown> =>
    until(
      `answers ${text}`,
      () => {
        for (const [index, client] of clients.entries())
          if (!answers.has(`${index} ${text}`)) client.send(`${index} ${text}`, ports.killed, '127.0.0.1');
        return answers.size;
      },
      () => clients.every((_, index) => answers.has(`${index} ${text}`)),
    );
  await untilAnswered('before');
  await exit.process.kill();
  await exit.process.start();
  await mesh.untilLinked(middle, exit);
  await untilAnswered('after');
});
