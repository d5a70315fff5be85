/**
 * The hosts of the web addresses that connected controllers announce in their hello. A controller can serve its APIs
 * under names that the certificate of its control channel does not have.
 */
import type { Channel } from '#net/channel';
import { headerId } from '#wire';
import type { Controllers } from './controllers.ts';

/** By the controller's channel, because the hello does not change while it is open. */
const known = new WeakMap<Channel, ReadonlySet<string>>();

export function isAnnouncedHost(controllers: Pick<Controllers, 'all'>, host: string): boolean {
  return controllers.all().some(({ channel }) => {
    const hosts =
      known.get(channel) ?? hostsOf(channel.peer.hello.text(headerId.ctrlHelloResult.apiAddresses));
    known.set(channel, hosts);
    return hosts.has(host);
  });
}

/** `text` is a JSON object with a list of `{url, version}` for each API. Anything else announces nothing. */
function hostsOf(text: string | undefined): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const addresses of Object.values(objectOf(text))) {
    for (const address of Array.isArray(addresses) ? (addresses as unknown[]) : []) {
      const url = (address as { readonly url?: unknown } | null)?.url;
      if (typeof url === 'string' && URL.canParse(url)) hosts.add(new URL(url).hostname);
    }
  }
  return hosts;
}

function objectOf(text: string | undefined): object {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
