/**
 * A program on the library of one version: `library-call.ts LIBRARY enroll TOKEN_FILE IDENTITY_FILE`, which prints the id, and
 * `library-call.ts LIBRARY dial IDENTITY_FILE SERVICE TEXT`, which prints what the service sends back for the text, and
 * `library-call.ts LIBRARY host IDENTITY_FILE SERVICE`, which sends back what it gets until its input ends.
 */
import { once } from 'node:events';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import type * as Library from '#sdk/library';

const [library = '', what, ...words] = process.argv.slice(2);
const { enroll, openOverlay } = (await import(library)) as typeof Library;

if (what === 'enroll') {
  const [tokenFile = '', identityFile = ''] = words;
  const { id } = await enroll({ tokenFile, identityFile });
  process.stdout.write(id);
} else {
  const [identityFile = '', service = '', message = ''] = words;
  const overlay = await openOverlay({ identityFile });
  try {
    if (what === 'dial') {
      const stream = await overlay.dial(service);
      stream.end(message);
      process.stdout.write(await text(stream));
    } else {
      const server = await overlay.bind(service);
      server.on('connection', (stream) => stream.pipe(stream).on('error', () => {}));
      process.stdout.write('hosted\n');
      await once(process.stdin.resume(), 'end');
    }
  } finally {
    await overlay.close();
  }
}
