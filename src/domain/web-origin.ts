/** A web origin in the form of the `Origin` header: scheme, host, and the port unless it is the scheme's default. */
import { parseShareTarget } from './share-target.ts';

/** Returns `https://app.example.com` in canonical form, or undefined if the text is not a web origin. */
export function parseWebOrigin(text: string): string | undefined {
  const target = text.endsWith('/') ? undefined : parseShareTarget(text);
  if (target === undefined || target.mode !== 'proxy' || !('scheme' in target) || target.path !== '')
    return undefined;
  const ownPort = target.scheme === 'https' ? ':443' : ':80';
  return target.url.endsWith(ownPort) ? target.url.slice(0, -ownPort.length) : target.url;
}
