import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateApp } from '../row.ts';

export const app: PrivateApp = {
  name: 'mosquitto',
  shows: 'MQTT over a private share: a message that is kept reaches a client that subscribes later',
  needs: { mosquitto: 'mosquitto', mosquitto_pub: 'mosquitto-clients' },
  program: ({ folder, port }) => {
    const settings = join(folder, 'mosquitto.conf');
    writeFileSync(settings, `listener ${port} 127.0.0.1\nallow_anonymous true\n`);
    return { command: 'mosquitto', args: ['-c', settings] };
  },
  checkPrivate: async (share) => {
    const topic = ['-h', share.host, '-p', String(share.port), '-t', 'rooms/kitchen', '-q', '1'];
    await share.run('mosquitto_pub', [...topic, '-r', '-m', 'warm']);
    assert.equal(await share.run('mosquitto_sub', [...topic, '-C', '1', '-W', '20']), 'warm\n');
  },
};
