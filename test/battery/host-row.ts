/**
 * H2: variants of Host, authority and TLS server name, at three shares. One canonical Host that is a live share gets
 * that share; a malformed or doubled name is refused, and no client ever gets another share's body.
 */
import { hostOf, LISTENER_KINDS, type BatteryProduct, type ListenerKind } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { askBytes, statusOf } from './bytes-client.ts';
import { RawOrigin } from './raw-origin.ts';

interface Variant {
  readonly name: string;
  /** The request line and the header lines that name hosts. */
  readonly head: (own: string, other: string) => string;
  /** On TLS; the share's own name when absent. */
  readonly serverName?: (own: string, other: string) => string;
  /** The share's own answer, or one of these statuses. */
  readonly expects: 'own' | readonly number[];
  readonly only?: ListenerKind;
}

function line(hosts: (own: string, other: string) => string): Variant['head'] {
  return (own, other) => `GET / HTTP/1.1\r\n${hosts(own, other)}`;
}

function host(value: (own: string, other: string) => string): Variant['head'] {
  return line((own, other) => `Host: ${value(own, other)}\r\n`);
}

const plainHost = host((own) => own);

export const HOST_VARIANTS: readonly Variant[] = [
  { name: 'its own Host', head: plainHost, expects: 'own' },
  { name: 'in capitals', head: host((own) => own.toUpperCase()), expects: 'own' },
  { name: 'with a port', head: host((own) => `${own}:8443`), expects: 'own' },
  {
    name: 'the absolute form',
    head: (own) => `GET http://${own}/ HTTP/1.1\r\nHost: ${own}\r\n`,
    expects: 'own',
  },
  {
    name: 'other hosts in headers of proxies',
    head: line(
      (own, other) =>
        `Host: ${own}\r\nX-Forwarded-Host: ${other}\r\nForwarded: host=${other}\r\nX-Host: ${other}\r\nX-Original-Host: ${other}\r\n`,
    ),
    expects: 'own',
  },
  {
    name: 'a server name in capitals',
    head: plainHost,
    serverName: (own) => own.toUpperCase(),
    expects: 'own',
    only: 'tls',
  },
  {
    name: 'the server name of another share',
    head: plainHost,
    serverName: (_own, other) => other,
    expects: [421],
    only: 'tls',
  },
  { name: 'no server name', head: plainHost, serverName: () => '', expects: [421], only: 'tls' },
  {
    name: 'a server name that no share has',
    head: plainHost,
    serverName: () => 'nobody.share.localhost',
    expects: [421],
    only: 'tls',
  },
  { name: 'a Host that no share has', head: host(() => 'nobody.share.localhost'), expects: [404, 421] },
  { name: 'the zone itself', head: host(() => 'share.localhost'), expects: [404, 421] },
  { name: 'a name below the share', head: host((own) => `x.${own}`), expects: [404, 421] },
  { name: 'a name that ends like the share', head: host((own) => `x${own}`), expects: [404, 421] },
  { name: 'a name that begins like the share', head: host((own) => `${own}.evil`), expects: [404, 421] },
  { name: 'an IPv4 address', head: host(() => '127.0.0.1'), expects: [404, 421] },
  { name: 'an IPv6 address', head: host(() => '[::1]:80'), expects: [404, 421] },
  { name: 'an empty Host', head: host(() => ''), expects: [400] },
  { name: 'no Host', head: line(() => ''), expects: [400] },
  {
    name: 'its Host, then another',
    head: line((own, other) => `Host: ${own}\r\nHost: ${other}\r\n`),
    expects: [400],
  },
  {
    name: 'another Host, then its own',
    head: line((own, other) => `Host: ${other}\r\nHost: ${own}\r\n`),
    expects: [400],
  },
  { name: 'its Host twice', head: line((own) => `Host: ${own}\r\nHOST: ${own}\r\n`), expects: [400] },
  { name: 'a list of Hosts', head: host((own, other) => `${own}, ${other}`), expects: [400] },
  { name: 'user information', head: host((own, other) => `${other}@${own}`), expects: [400] },
  { name: 'a path in the Host', head: host((own, other) => `${own}/${other}`), expects: [400] },
  { name: 'a trailing dot', head: host((own) => `${own}.`), expects: 'own' },
  { name: 'two ports', head: host((own) => `${own}:80:80`), expects: [400] },
  { name: 'an escaped dot', head: host((own) => own.replace('.', '%2e')), expects: [400] },
  { name: 'a tab behind the name', head: host((own, other) => `${own}\t${other}`), expects: [400] },
  { name: 'a NUL behind the name', head: host((own, other) => `${own}\0${other}`), expects: [400] },
  {
    name: 'another authority in the target',
    head: (own, other) => `GET http://${other}/ HTTP/1.1\r\nHost: ${own}\r\n`,
    expects: [400],
  },
  {
    name: 'its authority, and another Host',
    head: (own, other) => `GET http://${own}/ HTTP/1.1\r\nHost: ${other}\r\n`,
    expects: [400],
  },
];

const NAMES = ['h2-a', 'h2-b', 'h2-c'];

export const HOST_ROW: BatteryRow = {
  id: 'H2',
  title: 'a Host leads to its own share or nowhere',
  run: async (_context, product) => {
    const tally = new Tally();
    const origins: RawOrigin[] = [];
    try {
      for (const name of NAMES) {
        const origin = await RawOrigin.start();
        origins.push(origin);
        origin.answer = (_request, socket) =>
          void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`);
        await product.share(name, origin.port);
      }
      for (const [index, name] of NAMES.entries()) {
        const other = NAMES[(index + 1) % NAMES.length]!;
        for (const kind of LISTENER_KINDS) {
          for (const variant of HOST_VARIANTS) {
            if (variant.only !== undefined && variant.only !== kind) continue;
            for (const origin of origins) origin.forget();
            await runVariant(tally, product, variant, kind, name, other);
            const wrong = origins.filter(
              (origin, i) => origin.begun > (variant.expects === 'own' && i === index ? 1 : 0),
            );
            tally.check(wrong.length === 0, `${name} ${kind} ${variant.name}: no other share was reached`);
          }
        }
      }
    } finally {
      await Promise.all(origins.map((origin) => origin.close()));
    }
    return tally;
  },
};

async function runVariant(
  tally: Tally,
  product: BatteryProduct,
  variant: Variant,
  kind: ListenerKind,
  name: string,
  other: string,
): Promise<void> {
  const { port, tls } = product.target(kind, name);
  const hosts = [hostOf(name), hostOf(other)] as const;
  const servername = variant.serverName?.(...hosts) ?? hostOf(name);
  const answer = await askBytes(
    { port, ...(tls === undefined ? {} : { tls: { ...tls, servername } }) },
    `${variant.head(...hosts)}Connection: close\r\n\r\n`,
  ).catch((error: unknown) => String(error));
  const isGood =
    variant.expects === 'own'
      ? statusOf(answer) === 200 && answer.endsWith(`\r\n\r\n${name}`)
      : variant.expects.includes(statusOf(answer));
  tally.check(isGood, `${name} ${kind} ${variant.name}`, () => JSON.stringify(answer.slice(0, 200)));
}
