/**
 * Shares of one product that ask different things of a client: nothing, an API key, a session of a real log-in. Each is
 * proven to be guarded before it is measured: without the credential it is not served.
 */
import { untilAnswers, type Door } from '../check-client.ts';
import type { NginxPeer } from '../nginx-peer.ts';
import type { Product } from '../product.ts';
import { ZONE, type BenchCertificate } from './bench-certificate.ts';
import type { ProductFront } from './bench-front.ts';

const KEY_HEADER = 'x-api-key';

export interface FrontMaker {
  readonly product: Pick<Product, 'port' | 'processes' | 'publish' | 'call'>;
  readonly securePort: number;
  readonly certificate: BenchCertificate;
  /** The address of the private service. */
  readonly serviceUrl: string;
  /** The private nginx, whose CPU time belongs to every front. */
  readonly nginx: Pick<NginxPeer, 'processes'>;
}

/** With these providers. */
export async function makeShare(
  { product, serviceUrl }: FrontMaker,
  name: string,
  providerIds: readonly unknown[],
): Promise<void> {
  await product.publish(name, serviceUrl);
  if (providerIds.length > 0)
    await product.call('PATCH', `/shares/${name}`, { authProviderIds: providerIds });
}

export function frontOf(
  { product, securePort, certificate: { ca }, nginx }: FrontMaker,
  displayName: string,
  share: string,
  headers: Readonly<Record<string, string>> = {},
): ProductFront {
  const plain: Door = { port: product.port, host: `${share}.${ZONE}`, headers };
  return {
    name: displayName,
    plain,
    secure: { ...plain, port: securePort, ca },
    serviceRequests: 1,
    processes: new Map([...product.processes, ...nginx.processes]),
  };
}

/** Without the credential it answers 401, with it 200. */
export async function untilGuarded(door: Door): Promise<void> {
  await untilAnswers({ ...door, headers: {} }, { status: 401 });
  await untilAnswers(door);
}

export async function openFront(
  maker: FrontMaker,
  displayName: string,
  share: string,
): Promise<ProductFront> {
  await makeShare(maker, share, []);
  const front = frontOf(maker, displayName, share);
  await untilAnswers(front.plain);
  return front;
}

/** Makes an API key: the provider that a share then has, and the header that a client then sends. */
export async function makeKey(
  { call }: Pick<Product, 'call'>,
  name: string,
): Promise<{ readonly providerId: unknown; readonly headers: Readonly<Record<string, string>> }> {
  const provider = await call('POST', '/auth-providers', {
    name: `keys of ${name}`,
    type: 'API_KEY',
    data: { placement: 'header', name: KEY_HEADER, keys: [{ name: 'benchmark' }] },
  });
  const { keys } = provider['data'] as { readonly keys: readonly { readonly key: string }[] };
  return { providerId: provider['id'], headers: { [KEY_HEADER]: keys[0]!.key } };
}

export async function keyFront(maker: FrontMaker, displayName: string, share: string): Promise<ProductFront> {
  const { providerId, headers } = await makeKey(maker.product, share);
  await makeShare(maker, share, [providerId]);
  const front = frontOf(maker, displayName, share, headers);
  await untilGuarded(front.plain);
  return front;
}
