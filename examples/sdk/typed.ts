// The types of the library: a test compiles this file, and nothing runs it.
import { openOverlay, SdkError, type CircuitStream, type ListedService } from '@frontdoor-dev/frontdoor/sdk';
export async function consume(identityFile: string): Promise<string> {
  await using overlay = await openOverlay({ identityFile, signal: AbortSignal.timeout(1_000) });
  const services: readonly ListedService[] = await overlay.services();
  overlay.on('routerDown', (router, reason) => void [router.length, reason.length]);
  const server = await overlay.bind('a', { terminator: 'one', precedence: 'required', cost: 3 });
  server.on('connection', (stream: CircuitStream) => stream.end(stream.callerId));
  try {
    const stream = await overlay.dial(services[0]?.name ?? '', { encryption: 'required' });
    return String(stream.read());
  } catch (error) {
    return error instanceof SdkError ? error.remedy : '';
  }
}
// @ts-expect-error an option that does not exist
void openOverlay({ identityFile: 'x', tokens: 1 });
