import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import type { PublicApp } from '../row.ts';

const CLIENT = `
  import assert from 'node:assert/strict';
  import { once } from 'node:events';
  import { HttpsProxyAgent } from 'https-proxy-agent';
  import mqtt from 'mqtt';
  const wsOptions = { agent: new HttpsProxyAgent(process.env.HTTPS_PROXY) };
  const client = await mqtt.connectAsync(process.argv[2], { wsOptions });
  await client.subscribeAsync('rooms/+', { qos: 2 });
  const received = once(client, 'message');
  const sent = Buffer.alloc(200_000, 7);
  await client.publishAsync('rooms/kitchen', sent, { qos: 2 });
  const [topic, message] = await received;
  assert.deepEqual([topic, sent.equals(message)], ['rooms/kitchen', true]);
  await client.endAsync();
`;

export const app: PublicApp = {
  name: 'mosquitto-websockets',
  shows: 'MQTT over WebSockets with its subprotocol: a message of 200 kB with quality of service 2',
  needs: { mosquitto: 'mosquitto' },
  npm: ['mqtt@5.14.1', 'https-proxy-agent@7.0.6'],
  program: async ({ folder, port }) => {
    const settings = join(folder, 'mosquitto.conf');
    // Debian's version does not start with only a listener of WebSockets.
    const lines = [
      'allow_anonymous true',
      `listener ${await freePort()} 127.0.0.1`,
      `listener ${port} 127.0.0.1`,
      'protocol websockets',
    ];
    writeFileSync(settings, `${lines.join('\n')}\n`);
    return { command: 'mosquitto', args: ['-c', settings] };
  },
  check: async (share, { folder }) => {
    writeFileSync(join(folder, 'client.mjs'), CLIENT);
    await share.run(process.execPath, [join(folder, 'client.mjs'), `wss://${share.host}/mqtt`]);
  },
};
