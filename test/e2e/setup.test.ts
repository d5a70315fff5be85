// `frontdoor setup`, then `frontdoor up` with its file: the console answers at its name, with a certificate of the authority.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { callCommand, runCommandLine } from '../support/command-line.ts';
import { until } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { PartProcess } from '../support/part-process.ts';
import { Pebble, withoutPebble } from '../support/pebble.ts';

const API_NAME = 'api.share.example';
const folder = mkdtempSync(join(tmpdir(), 'setup-'));
const config = join(folder, 'frontdoor.yaml');
const readyFile = join(folder, 'ready.json');
const up = new PartProcess<{ readonly consoleUrl: string; readonly consoleLink: string }>({
  name: 'up',
  readyFile,
  args: () => ['up', '--config', config, '--ready-file', readyFile],
});
const opened: { pebble?: Pebble } = {};
after(async () => {
  await up.kill();
  opened.pebble?.close();
  rmSync(folder, { recursive: true, force: true });
});

test(
  'a machine that was set up by one command serves its console with a certificate',
  { skip: withoutPebble },
  async () => {
    const port = await freePort(5);
    const [httpPort, httpsPort] = [String(port), String(port + 1)];
    const pebble = await Pebble.start({ folder, httpPort: port, lifetime: 86_400 });
    opened.pebble = pebble;
    const kept = {
      // The names of the zone do not resolve here.
      advertise: ['localhost'],
      apiPort: port + 2,
      ctrlPort: port + 3,
      acmeDirectory: pebble.directoryUrl,
      acmeCa: pebble.caFile,
    };
    const binding = { acmeEabKid: 'kid', acmeEabKey: pebble.bindingKeyFile };
    writeFileSync(config, JSON.stringify({ up: { ...kept, ...binding } }), { mode: 0o600 });
    const places = ['--config', config, '--data-dir', join(folder, 'data'), '--listen', '0.0.0.0'];
    const ports = ['--http-port', httpPort, '--https-port', httpsPort];
    const names = ['--domain', 'share.example', '--acme-email', 'ops@example.com'];
    assert.match(
      await callCommand(['setup', ...places, ...ports, ...names, '--yes']),
      /written .*\n\nStart it with:/,
    );

    const { consoleUrl, consoleLink } = await up.start();
    assert.equal(consoleUrl, `https://${API_NAME}:${httpsPort}/console`);
    assert.ok(consoleLink.startsWith(`${consoleUrl}/welcome#`));
    const ca = await pebble.rootPem();
    const answer = async (): Promise<number | undefined> => {
      const asked = request({
        host: '127.0.0.1',
        port: httpsPort,
        servername: API_NAME,
        ca,
        path: '/console/',
      });
      asked.setHeader('host', `${API_NAME}:${httpsPort}`).end();
      const answered = await once(asked, 'response').catch(() => undefined);
      const response = answered?.[0] as IncomingMessage | undefined;
      response?.resume();
      return response?.statusCode;
    };
    // The name does not resolve here, so the doctor goes no further.
    const doctor = ['doctor', '--json', '--data-dir', join(folder, 'data')];
    assert.match(
      (await runCommandLine(doctor, { XDG_CONFIG_HOME: folder })).out,
      new RegExp(`"name ${API_NAME}"`),
    );
    await until(
      'the console with a trusted certificate',
      answer,
      (status) => status === 303 || status === 200,
      60_000,
    );
  },
);
