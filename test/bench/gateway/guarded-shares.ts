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

export interface ShareTargets {
  /** The private service and the WebSocket echo. */
  readonly serviceUrl: string;
  readonly echoUrl: string;
}

export interface FrontMaker {
  readonly product: Pick<Product, 'port' | 'processes' | 'publish' | 'call'>;
  readonly securePort: number;
  readonly certificate: BenchCertificate;
  readonly targets: ShareTargets;
  /** The private nginx, whose CPU time belongs to every front. */
  readonly nginx: Pick<NginxPeer, 'processes'>;
}

/** Two shares of the names `NAME` and `NAME-echo`, with these providers. */
export async function makeShares(
  { product, targets }: FrontMaker,
  name: string,
  providerIds: readonly unknown[],
): Promise<void> {
  const echo = `${name}-echo`;
  await product.publish(name, targets.serviceUrl);
  await product.publish(echo, targets.echoUrl);
  if (providerIds.length === 0) return;
  for (const share of [name, echo]) {
    await product.call('PATCH', `/shares/${share}`, { authProviderIds: providerIds });
  }
}

export function frontOf(
  { product, securePort, certificate: { ca }, nginx }: FrontMaker,
  displayName: string,
  share: string,
  headers: Readonly<Record<string, string>> = {},
): ProductFront {
  const plainDoor = (name: string): Door => ({ port: product.port, host: `${name}.${ZONE}`, headers });
  const secureDoor = (name: string): Door => ({ ...plainDoor(name), port: securePort, ca });
  return {
    name: displayName,
    plain: plainDoor(share),
    secure: secureDoor(share),
    plainEcho: plainDoor(`${share}-echo`),
    secureEcho: secureDoor(`${share}-echo`),
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
  await makeShares(maker, share, []);
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
  await makeShares(maker, share, [providerId]);
  const front = frontOf(maker, displayName, share, headers);
  await untilGuarded(front.plain);
  return front;
}
