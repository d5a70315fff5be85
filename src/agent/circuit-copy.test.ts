import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { CircuitCopy } from './circuit-copy.ts';
import { memoryCircuit, type MemoryCircuit } from './testing/memory-circuit.ts';
import { parseTarget, type TargetAddress } from './target-address.ts';
import { connectTarget, type TargetFailure } from './backends/target-connection.ts';
import { TargetResolver } from './backends/target-resolver.ts';

const servers: Server[] = [];
after(() => {
  for (const server of servers) server.close();
});

async function listening(server: Server): Promise<TargetAddress> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return targetOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

function targetOf(text: string): TargetAddress {
  const parsed = parseTarget(text);
  assert.ok('target' in parsed && 'host' in parsed.target);
  return parsed.target;
}

interface Joined {
  readonly caller: MemoryCircuit;
  readonly host: MemoryCircuit;
  readonly closed: Promise<string | undefined>;
  copy: CircuitCopy;
}

function join(
  target: TargetAddress,
  windowBytes?: number,
  change = (host: MemoryCircuit): MemoryCircuit => host,
): Promise<Joined> {
  const circuit = memoryCircuit(windowBytes);
  const { caller } = circuit;
  const host = change(circuit.host);
  return new Promise((resolve, reject) => {
    connectTarget(
      { target, resolver: new TargetResolver(), timeoutMs: 30_000 },
      (connection) => {
        const joined: Partial<Joined> = { caller, host };
        const closed = new Promise<string | undefined>((done) => {
          joined.copy = new CircuitCopy(host, connection, {
            onAlive: () => {},
            onClosed: (_copy, broken) => done(broken),
          });
        });
        resolve({ ...joined, closed } as Joined);
      },
      (failure: TargetFailure) => reject(failure),
    );
  });
}

function collect(caller: MemoryCircuit): Promise<{ bytes: Buffer; error: Error | undefined }> {
  const chunks: Uint8Array[] = [];
  return new Promise((resolve) => {
    caller.onData = (view) => chunks.push(view);
    caller.onEnd = () => caller.end();
    caller.onClose = (error) => resolve({ bytes: Buffer.concat(chunks), error });
    caller.resume();
  });
}

test(
  'an HTTP request over the circuit is answered and both sides end in order',
  { timeout: 60_000 },
  async () => {
    const http = createHttpServer((request, response) => response.end(`you asked ${request.url}`));
    const joined = await join(await listening(http));
    const answer = collect(joined.caller);
    joined.caller.write(Buffer.from('GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'));
    const { bytes, error } = await answer;
    assert.equal(error, undefined);
    assert.match(bytes.toString(), /you asked \/x$/);
    assert.equal(await joined.closed, undefined);
    assert.ok(joined.copy.serviceSpokeLast);
  },
);

test(
  'the caller may end first and still receives everything from the service',
  { timeout: 60_000 },
  async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const hash = createHash('sha256');
      socket.on('data', (chunk) => hash.update(chunk));
      socket.on('end', () => socket.end(hash.digest('hex')));
    });
    const joined = await join(await listening(server));
    const body = randomBytes(3_000_000);
    const answer = collect(joined.caller);
    joined.caller.write(body);
    joined.caller.end();
    const { bytes, error } = await answer;
    assert.equal(error, undefined);
    assert.equal(bytes.toString(), createHash('sha256').update(body).digest('hex'));
    assert.equal(await joined.closed, undefined);
  },
);

test('the circuit is lent each read, of whole payloads from the second on', { timeout: 60_000 }, async () => {
  const body = randomBytes(1_000_000);
  const server = createServer((socket) => socket.end(body));
  const reads: number[] = [];
  const lent = new Set<ArrayBufferLike>();
  const joined = await join(await listening(server), undefined, (host) => {
    const writeLent = host.writeLent.bind(host);
    return Object.assign(host, {
      payloadBytes: 1_000,
      writeLent: (view: Uint8Array) => {
        lent.add(view.buffer);
        reads.push(view.length);
        return writeLent(view);
      },
    });
  });
  const { bytes } = await collect(joined.caller);
  assert.ok(bytes.equals(body));
  assert.equal(lent.size, 1);
  assert.equal(Math.max(...reads.slice(1)), 65_000);
});

test(
  'the service may end first and still receives everything from the caller',
  { timeout: 60_000 },
  async () => {
    const arrived = new Promise<Buffer>((resolve) => {
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        socket.end('bye');
        const chunks: Buffer[] = [];
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        socket.on('end', () => resolve(Buffer.concat(chunks)));
      });
      void listening(server).then(async (target) => {
        const joined = await join(target);
        const { caller } = joined;
        caller.onEnd = () => {
          caller.write(Buffer.from('after your end'));
          caller.end();
        };
        caller.resume();
      });
    });
    assert.equal((await arrived).toString(), 'after your end');
  },
);

test(
  'a caller that does not read stops the service, with little memory in between',
  { timeout: 60_000 },
  async () => {
    let sent = 0;
    let stalled: () => void = () => {};
    const stall = new Promise<void>((resolve) => (stalled = resolve));
    const total = 64 * 1024 * 1024;
    const block = Buffer.alloc(64 * 1024, 7);
    const server = createServer((socket) => {
      const pump = (): void => {
        while (sent < total) {
          sent += block.length;
          if (!socket.write(block)) {
            const before = sent;
            setTimeout(() => {
              if (sent === before) stalled();
            }, 300).unref();
            return;
          }
        }
        socket.end();
      };
      socket.on('drain', pump);
      pump();
    });
    const joined = await join(await listening(server), 256 * 1024);
    await stall;
    assert.ok(sent < total / 2, `the service was stopped after ${sent}`);
    assert.ok(joined.host.mostInFlight <= 256 * 1024 + 65_536, `${joined.host.mostInFlight} in flight`);
    let received = 0;
    const done = new Promise<Error | undefined>((resolve) => {
      joined.caller.onData = (view) => (received += view.length);
      joined.caller.onEnd = () => joined.caller.end();
      joined.caller.onClose = resolve;
    });
    joined.caller.resume();
    assert.equal(await done, undefined);
    assert.equal(received, total);
  },
);

test('a service that does not read stops the caller', { timeout: 60_000 }, async () => {
  let accepted: (socket: Socket) => void = () => {};
  const socket = new Promise<Socket>((resolve) => (accepted = resolve));
  const server = createServer({ pauseOnConnect: true }, (each) => accepted(each));
  const joined = await join(await listening(server), 256 * 1024);
  const total = 64 * 1024 * 1024;
  let written = 0;
  const block = Buffer.alloc(64 * 1024, 3);
  let stalled: () => void = () => {};
  const stall = new Promise<void>((resolve) => (stalled = resolve));
  const pump = (): void => {
    while (written < total) {
      written += block.length;
      if (!joined.caller.write(block)) {
        const before = written;
        setTimeout(() => {
          if (written === before) stalled();
        }, 300).unref();
        return;
      }
    }
    joined.caller.end();
  };
  joined.caller.onDrain = pump;
  pump();
  await stall;
  assert.ok(written < total / 2, `the caller was stopped after ${written}`);
  const service = await socket;
  let received = 0;
  service.on('data', (chunk) => (received += chunk.length));
  service.resume();
  await once(service, 'end');
  assert.equal(received, total);
});

test('a service that resets breaks the circuit visibly', { timeout: 60_000 }, async () => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('half an ans', () => socket.resetAndDestroy());
    });
  });
  const joined = await join(await listening(server));
  const answer = collect(joined.caller);
  joined.caller.write(Buffer.from('go'));
  assert.notEqual((await answer).error, undefined);
  assert.match((await joined.closed) ?? '', /reset/);
});

test('a caller that vanishes resets the connection to the service', { timeout: 60_000 }, async () => {
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => {
    const server = createServer((socket) => {
      socket.on('error', resolve);
      socket.resume();
    });
    void listening(server).then(async (target) => {
      const joined = await join(target);
      joined.caller.write(Buffer.from('half a requ'));
      joined.caller.destroy('vanished');
      assert.equal(await joined.closed, 'vanished');
    });
  });
  assert.equal((await failed).code, 'ECONNRESET');
});

test('small answers that follow each other do not share memory', { timeout: 60_000 }, async () => {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => socket.write(chunk));
  });
  const joined = await join(await listening(server));
  const kept: Uint8Array[] = [];
  let wanted = 1;
  await new Promise<void>((resolve) => {
    joined.caller.onData = (view) => {
      kept.push(view);
      wanted += 1;
      if (wanted > 200) resolve();
      else joined.caller.write(Buffer.from(`message ${wanted};`));
    };
    joined.caller.resume();
    joined.caller.write(Buffer.from('message 1;'));
  });
  assert.equal(
    kept.map((view) => Buffer.from(view).toString()).join(''),
    Array.from({ length: 200 }, (_, i) => `message ${i + 1};`).join(''),
  );
  joined.copy.stop('done');
  assert.equal(await joined.closed, 'done');
});
