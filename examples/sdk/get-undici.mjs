// Calls a service with undici: `node get-undici.mjs IDENTITY_FILE SERVICE [PATH]`.
import { openOverlay } from '@frontdoor-dev/frontdoor/sdk';
import { Agent, fetch } from 'undici';

const [identityFile, service, path = '/'] = process.argv.slice(2);
const overlay = await openOverlay({ identityFile });

const dispatcher = new Agent({
  connect: ({ hostname }, callback) => {
    overlay.dial(hostname).then(
      (stream) => callback(null, stream),
      (error) => callback(error, null),
    );
  },
});
const response = await fetch(`http://${service}${path}`, { dispatcher });
process.stdout.write(await response.text());
await dispatcher.close();
await overlay.close();
