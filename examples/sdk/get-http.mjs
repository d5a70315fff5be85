// Calls a service with node:http: `node get-http.mjs IDENTITY_FILE SERVICE [PATH]`. The agent keeps circuits for later requests.
import { Agent, get } from 'node:http';
import { openOverlay } from '@frontdoor-dev/frontdoor/sdk';

const [identityFile, service, path = '/'] = process.argv.slice(2);
const overlay = await openOverlay({ identityFile });

class OverlayAgent extends Agent {
  createConnection({ host }, callback) {
    overlay.dial(host).then((stream) => callback(null, stream), callback);
  }
}

const agent = new OverlayAgent({ keepAlive: true });
for (let count = 0; count < 2; count += 1) {
  const response = await new Promise((resolve, reject) => {
    get({ agent, host: service, path }, resolve).on('error', reject);
  });
  for await (const part of response.setEncoding('utf8')) process.stdout.write(part);
}
agent.destroy();
await overlay.close();
