/**
 * Shares of one product that ask different things of a client: nothing, an API key, a session of a real log-in. Each is
 * proven to be guarded before it is measured: without the credential it is not served.
 */
import { until } from '../bench-process.ts';
import { get, type ClientEntrance } from '../check-client.ts';
import type { Door } from '../idle-connections.ts';
import type { NginxPeer } from '../nginx-peer.ts';
import type { Product } from '../product.ts';
import { ZONE, type BenchCertificate } from './bench-certificate.ts';
import type { ProductFront } from './bench-front.ts';

/** Changes of a share reach gateways within 5 s; the rest is a slow machine's. */
const GUARD_DEADLINE_MS = 20_000;
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
  const plainDoor = (name: string): Door => {
    return { port: product.port, host: `${name}.${ZONE}`, entrance: { headers } };
  };
  const secureDoor = (name: string): Door => {
    return { port: securePort, host: `${name}.${ZONE}`, entrance: { ca, headers } };
  };
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

/** Waits until the door answers with that status; throws with what it answered instead. */
export async function untilAnswers(door: Door, status: number, entrance: ClientEntrance): Promise<void> {
  await until(`the answer ${status} of ${door.host}`, GUARD_DEADLINE_MS, async () => {
    const answer = await get(door.port, door.host, '/small', entrance);
    if (answer.status !== status) throw new Error(`it answers ${answer.status}`);
  });
}

/** Without the credential it answers 401, with it 200. */
export async function untilGuarded(door: Door): Promise<void> {
  await untilAnswers(door, 401, {});
  await untilAnswers(door, 200, door.entrance);
}

export async function openFront(
  maker: FrontMaker,
  displayName: string,
  share: string,
): Promise<ProductFront> {
  await makeShares(maker, share, []);
  const front = frontOf(maker, displayName, share);
  await untilAnswers(front.plain, 200, front.plain.entrance);
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
