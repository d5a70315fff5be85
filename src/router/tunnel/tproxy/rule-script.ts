/**
 * The scripts for `nft` and `iptables-restore` that lead packets to the router, and those that remove them. Each script is
 * one transaction: it takes effect as a whole or not at all. Packets of the machine itself get the mark before they are
 * routed; a routing rule then leads them to the loopback interface, where they are intercepted as those of other machines.
 */
import type { InterceptedProtocol, InterceptRule } from './intercept-rule.ts';
import { MARK, MARK_BITS, MARK_VALUE, OTHER_BITS } from './packet-mark.ts';

export type Family = 4 | 6;
export type IntakePorts = Readonly<Record<InterceptedProtocol, number>>;

export interface RulePlan {
  /** Names the tables or chains of this router: eight hex digits. */
  readonly id: string;
  /** Ports of the transparent sockets on the loopback addresses. A family without them is not intercepted. */
  readonly ports: ReadonlyMap<Family, IntakePorts>;
  readonly rules: readonly InterceptRule[];
  /** Interfaces whose intercepted packets the machine's packet filter accepts. */
  readonly lanInterfaces: readonly string[];
  /**
   * Addresses that only names of services have, in CIDR notation: connections to other ports of them are refused. Not so
   * `own`, which is the machine's own address among them, and thus the source of its connections to the others.
   */
  readonly reserved: { readonly network: string; readonly own: string };
}

export const FAMILIES: readonly Family[] = [4, 6];

const NFT_FAMILY = { 4: 'ip', 6: 'ip6' } as const;
const LOOPBACK = { 4: '127.0.0.1', 6: '[::1]' } as const;
const NFT_SET_MARK = `meta mark set meta mark and ${OTHER_BITS} or ${MARK_VALUE}`;
const NFT_MARK = `meta mark and ${MARK_BITS}`;

export function tableName(id: string): string {
  return `frontdoor_${id}`;
}

/** The script for `nft -f -`. Sets the tables of both families, instead of those of the same router. */
export function nftScript(plan: RulePlan): string {
  return FAMILIES.map((family) => {
    const ports = plan.ports.get(family);
    const rules = plan.rules.filter((rule) => rule.family === family);
    const removal = nftRemoval(plan.id, family);
    return ports === undefined || rules.length === 0
      ? removal
      : removal + nftTable(plan, family, ports, rules);
  }).join('');
}

/** The script for `nft -f -` that removes the tables, also if there are none. */
export function nftRemovalScript(id: string): string {
  return FAMILIES.map((family) => nftRemoval(id, family)).join('');
}

/** A table is created first, because the deletion of one that does not exist is an error. */
function nftRemoval(id: string, family: Family): string {
  const table = `table ${NFT_FAMILY[family]} ${tableName(id)}`;
  return `${table} {}\ndelete ${table}\n`;
}

function nftTable(
  { id, lanInterfaces, reserved }: RulePlan,
  family: Family,
  ports: IntakePorts,
  rules: readonly InterceptRule[],
): string {
  const ip = NFT_FAMILY[family];
  const matches = rules.flatMap(({ protocol, network, ports: { low, high }, sources }) => {
    const range = low === high ? String(low) : `${low}-${high}`;
    const match = `${ip} daddr ${network} ${protocol} dport ${range}`;
    // One rule for each source, because networks of a set must not overlap.
    const all = sources.length === 0 ? [match] : sources.map((source) => `${ip} saddr ${source} ${match}`);
    return all.map((text) => ({ protocol, match: text }));
  });
  const others = `ip daddr ${reserved.network} ip daddr != ${reserved.own} ${NFT_MARK} != ${MARK_VALUE}`;
  const lines = [
    `table ${ip} ${tableName(id)} {`,
    ' chain prerouting {',
    '  type filter hook prerouting priority mangle; policy accept;',
    ...matches.map(
      ({ protocol, match }) =>
        `  ${match} tproxy to ${LOOPBACK[family]}:${ports[protocol]} ${NFT_SET_MARK} accept`,
    ),
    ' }',
    ' chain output {',
    '  type route hook output priority mangle; policy accept;',
    ...matches.map(({ match }) => `  ${match} ${NFT_SET_MARK} accept`),
    ' }',
    ' chain input {',
    '  type filter hook input priority filter - 10; policy accept;',
    ...lanInterfaces.map((name) => `  iifname "${name}" ${NFT_MARK} == ${MARK_VALUE} accept`),
    ...(family === 6 ? [] : [`  ${others} meta l4proto tcp reject with tcp reset`, `  ${others} reject`]),
    ' }',
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

/** Chains of one router, by the table of iptables that they are in and the chain that leads to them. */
const IPTABLES_CHAINS = [
  { table: 'mangle', from: 'PREROUTING', suffix: 'PRE' },
  { table: 'mangle', from: 'OUTPUT', suffix: 'OUT' },
  { table: 'filter', from: 'INPUT', suffix: 'IN' },
] as const;
type ChainSuffix = (typeof IPTABLES_CHAINS)[number]['suffix'];

/** Chains have at most 28 characters. */
export function chainName(id: string, suffix: ChainSuffix): string {
  return `FRONTDOOR-${id}-${suffix}`;
}

/**
 * The script for `iptables-restore --noflush` or `ip6tables-restore --noflush`. `present` has the chains and jumps that
 * exist. Other programs that load rules can flush the jumps and leave the chains.
 */
export function iptablesScript(plan: RulePlan, family: Family, present: ReadonlySet<string>): string {
  const ports = plan.ports.get(family);
  const rules = plan.rules.filter((rule) => rule.family === family);
  if (ports === undefined || rules.length === 0) return iptablesRemovalScript(plan.id, present);
  const lines = { PRE: [] as string[], OUT: [] as string[], IN: [] as string[] };
  for (const {
    protocol,
    network,
    ports: { low, high },
    sources,
  } of rules) {
    for (const source of sources.length === 0 ? [''] : sources) {
      const match = `${source === '' ? '' : `-s ${source} `}-d ${network} -p ${protocol} --dport ${low}:${high}`;
      const address = family === 4 ? '127.0.0.1' : '::1';
      const target = `--on-ip ${address} --on-port ${ports[protocol]} --tproxy-mark ${MARK}`;
      lines.PRE.push(`${match} -j TPROXY ${target}`);
      lines.OUT.push(`${match} -j MARK --set-xmark ${MARK}`);
    }
  }
  for (const name of plan.lanInterfaces) lines.IN.push(`-i ${name} -m mark --mark ${MARK} -j ACCEPT`);
  if (family === 4) {
    const { network, own } = plan.reserved;
    const others = `-d ${network} -m mark ! --mark ${MARK}`;
    lines.IN.push(
      `-d ${own} -j RETURN`,
      `${others} -p tcp -j REJECT --reject-with tcp-reset`,
      `${others} -j REJECT`,
    );
  }
  return iptablesText(plan.id, (suffix, chain, from) => [
    `:${chain} - [0:0]`,
    ...lines[suffix].map((rule) => `-A ${chain} ${rule}`),
    ...(present.has(jumpName(from, chain)) ? [] : [`-I ${from} 1 -j ${chain}`]),
  ]);
}

/** The script that removes the chains of `present` that are this router's, with the jumps to them. */
export function iptablesRemovalScript(id: string, present: ReadonlySet<string>): string {
  return iptablesText(id, (_suffix, chain, from) =>
    present.has(chain)
      ? [
          `:${chain} - [0:0]`,
          ...(present.has(jumpName(from, chain)) ? [`-D ${from} -j ${chain}`] : []),
          `-X ${chain}`,
        ]
      : [],
  );
}

/** The names of chains in the output of `iptables-save`, and the jumps to them from other chains. */
export function chainsIn(saved: string): Set<string> {
  const chains = Array.from(saved.matchAll(/^:(\S+)/gm), ([, name]) => name!);
  const jumps = Array.from(
    saved.matchAll(/^-(?:A (\S+)|I (\S+) 1) -j (\S+)$/gm),
    ([, added, inserted, chain]) => jumpName((added ?? inserted)!, chain!),
  );
  return new Set([...chains, ...jumps]);
}

function jumpName(from: string, chain: string): string {
  return `${from} ${chain}`;
}

function iptablesText(
  id: string,
  linesOf: (suffix: ChainSuffix, chain: string, from: string) => readonly string[],
): string {
  const tables = ['mangle', 'filter'].map((table) => {
    const lines = IPTABLES_CHAINS.filter((chain) => chain.table === table).flatMap(({ suffix, from }) =>
      linesOf(suffix, chainName(id, suffix), from),
    );
    // A chain is declared before the rules of the table.
    lines.sort((a, b) => Number(b.startsWith(':')) - Number(a.startsWith(':')));
    return lines.length === 0 ? '' : `*${table}\n${lines.join('\n')}\nCOMMIT\n`;
  });
  return tables.join('');
}
