// Circuits that callers keep for later: the private service knows nothing of them until bytes come.
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { silentLog } from '#base';
import type { Circuit, HostedService, IncomingDial } from '#sdk';
import { AgentTraffic } from './agent-traffic.ts';
import { ShareHost } from './share-host.ts';
import { backendFor } from './testing/backend-parts.ts';
import { memoryCircuit, type MemoryCircuit } from './testing/memory-circuit.ts';
import { TargetHealthMonitor } from './backends/target-health.ts';

class Offered implements HostedService {
  readonly state = 'bound';
  onState: HostedService['onState'] = () => {};
  handler: (incoming: IncomingDial) => void = () => {};
  reportHealth(): void {}
  update(): void {}
  lower(): void {}
  close(): void {}

  /** As a marked dial would, or another one. */
  dial(isStandby = true): Promise<MemoryCircuit> {
    return new Promise((resolve, reject) => {
      this.handler({
        callerId: 'gateway',
        serviceId: 'service',
        isStandby,
        accept: (): Circuit => {
          const { caller, host } = memoryCircuit();
          resolve(caller);
          return host;
        },
        refuse: (reason, code) => reject(new Error(`${code ?? ''}: ${reason}`)),
      });
    });
  }
}

function closeOf(circuit: MemoryCircuit): Promise<Error | undefined> {
  const closed = new Promise<Error | undefined>((resolve) => (circuit.onClose = resolve));
  circuit.resume();
  return closed;
}

describe('a circuit that its caller keeps for later', { timeout: 60_000 }, () => {
  let service: Server;
  let offered: Offered;
  let hosted: ShareHost;
  let health: TargetHealthMonitor;
  let spoken = 0;

  beforeEach(async () => {
    spoken = 0;
    service = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        spoken += 1;
        socket.end(`echo ${bytes.toString()}`);
      });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    offered = new Offered();
    health = new TargetHealthMonitor({ intervalMs: 60_000 });
    hosted = new ShareHost({
      paths: new Map(),
      traffic: new AgentTraffic(),
      service: { id: 'service', name: 'app' },
      isPublic: true,
      backend: backendFor(`http://127.0.0.1:${(service.address() as AddressInfo).port}`),
      host: {
        bind: (_service, handler) => {
          offered.handler = handler;
          return offered;
        },
      },
      health,
      log: silentLog,
      maxCircuits: 65,
      retargetGraceMs: 0,
      onIdle: () => {},
    });
  });
  afterEach(() => {
    hosted.close('test over');
    health.close();
    service.close();
  });

  test('is taken at once, connected by its first bytes, and carries them', async () => {
    const caller = await offered.dial();
    assert.equal(hosted.circuits, 0);
    const said: Uint8Array[] = [];
    caller.onData = (view) => said.push(view);
    caller.onEnd = () => caller.end();
    const closed = closeOf(caller);
    caller.write(Buffer.from('hello'));
    assert.equal(await closed, undefined);
    assert.equal(Buffer.concat(said).toString(), 'echo hello');
    assert.equal(spoken, 1);
  });

  test('breaks when the service cannot be connected to', async () => {
    const caller = await offered.dial();
    await new Promise((resolve) => service.close(resolve));
    const closed = closeOf(caller);
    caller.write(Buffer.from('hello'));
    assert.match((await closed)?.message ?? '', /refused/);
    assert.equal(hosted.circuits, 0);
  });

  test('is one of a bounded number, gives way to one that is needed now, and goes when the agent begins to stop', async () => {
    const callers: MemoryCircuit[] = [];
    for (let count = 0; count < 64; count += 1) callers.push(await offered.dial());
    await assert.rejects(offered.dial(), /not-now: .*has its 64 standby circuits/);
    const [first] = callers.splice(0, 1);
    const given = closeOf(first!);
    const needed = [await offered.dial(false), await offered.dial(false)];
    assert.match((await given)?.message ?? '', /its place is needed/);
    for (const circuit of needed) circuit.destroy();
    const ends = callers.map(closeOf);
    hosted.lower();
    for (const end of await Promise.all(ends)) assert.match(end?.message ?? '', /stopping/);
  });

  test('is accepted while the agent drains, ends with the drain, and is then refused for now', async () => {
    hosted.lower();
    const kept = await offered.dial();
    const end = closeOf(kept);
    hosted.withdraw();
    assert.match((await end)?.message ?? '', /stopping/);
    for (const isStandby of [true, false])
      await assert.rejects(offered.dial(isStandby), /not-now: .*stopping/);
  });
});
