// The ports of `frontdoor up`: which an option gives, which it keeps, and which are free ones.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { silentLog } from '#base';
import { rememberedPorts, rememberPorts, refuseTakenPorts } from '../../bin/port-memory.ts';
import { freePort } from '../support/free-port.ts';

describe('up with --any-port', () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-ports-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('keeps given ports, and takes those of the last start for the others', async () => {
    const [first, second, given] = [await freePort(), await freePort(), await freePort()];
    await rememberPorts(folder, { http: first, https: second, api: 0, edgeApi: 0, ctrl: 0, edge: 0 });
    const ports = await rememberedPorts(folder, '127.0.0.1', silentLog, { https: given });
    assert.deepEqual(ports, { http: first, https: given, api: 0, edgeApi: 0, ctrl: 0, edge: 0 });
  });

  it('refuses a given port that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await assert.rejects(refuseTakenPorts({ api: port }, '127.0.0.1'), /choose another with --api-port/);
    taken.close();
  });
});
