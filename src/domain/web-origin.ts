/** A web origin as browsers write it in `Origin`: scheme, host, and the port where it is not the scheme's own. */
import { parseShareTarget } from './share-target.ts';

/** `https://app.example.com` in canonical form; undefined: no origin of the web. */
export function parseWebOrigin(text: string): string | undefined {
  const target = text.endsWith('/') ? undefined : parseShareTarget(text);
  if (target === undefined) return undefined;
  const ownPort = target.scheme === 'https' ? ':443' : ':80';
  return target.url.endsWith(ownPort) ? target.url.slice(0, -ownPort.length) : target.url;
}
