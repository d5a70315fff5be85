/**
 * Sets the rules of intercepted packets on the machine: by nft, by iptables, or by a diverter program. It owns what it
 * sets, finds what a predecessor that was killed left, and removes everything at the end.
 */
import { isDeepStrictEqual } from 'node:util';
import { FrontdoorError } from '#base';
import { findProgram, runMachineProgram } from '../machine/machine-program.ts';
import { keyOfRule, type InterceptRule } from './intercept-rule.ts';
import {
  chainsIn,
  FAMILIES,
  iptablesRemovalScript,
  iptablesScript,
  nftRemovalScript,
  nftScript,
  type Family,
  type RulePlan,
} from './rule-script.ts';

/** A way of setting rules. */
export interface RuleBackend {
  readonly name: string;
  /** Sets the rules of a plan instead of earlier ones. */
  set(plan: RulePlan): Promise<void>;
  /** Removes all rules of this router, also those of a predecessor. */
  clear(): Promise<void>;
}

/** Rejects with `unavailable` if the machine has neither nft nor iptables. */
export async function findBackend(id: string): Promise<RuleBackend> {
  const nft = await findProgram('nft');
  const iptables = await findIptables();
  if (nft !== undefined) {
    const backend = nftBackend(nft, id);
    if (iptables === undefined) return backend;
    // A predecessor used iptables if the machine did not have nft then.
    const earlier = iptablesBackend(await usableIptables(iptables), id);
    const clear = async (): Promise<void> => {
      await backend.clear();
      await earlier.clear();
    };
    return { ...backend, clear };
  }
  if (iptables !== undefined) return iptablesBackend(iptables, id);
  const message =
    'mode tproxy needs nft or iptables, and this machine has neither: install nftables or iptables, or use mode proxy or host';
  throw new FrontdoorError('unavailable', 'no-packet-filter', message);
}

/** Removes all rules of the id, set by whichever program. Rejects if the machine does not let this process do so. */
export async function clearRules(id: string): Promise<void> {
  const nft = await findProgram('nft');
  const iptables = await findIptables();
  if (nft !== undefined || iptables !== undefined) await (await findBackend(id)).clear();
}

function nftBackend(path: string, id: string): RuleBackend {
  const load = async (script: string): Promise<void> =>
    void (await runMachineProgram(path, ['-f', '-'], script));
  return {
    name: 'nft',
    set: (plan) => load(nftScript(plan)),
    clear: () => load(nftRemovalScript(id)),
  };
}

interface Iptables {
  readonly save: string;
  readonly restore: string;
}

/** For each family; that of IPv6 may be missing. */
type IptablesPrograms = ReadonlyMap<Family, Iptables>;

async function findIptables(): Promise<IptablesPrograms | undefined> {
  const found = new Map<Family, Iptables>();
  for (const family of FAMILIES) {
    const name = family === 4 ? 'iptables' : 'ip6tables';
    const save = await findProgram(`${name}-save`);
    const restore = await findProgram(`${name}-restore`);
    if (save !== undefined && restore !== undefined) found.set(family, { save, restore });
  }
  return found.has(4) ? found : undefined;
}

/** Those that the kernel supports. The others can have no rules. */
async function usableIptables(programs: IptablesPrograms): Promise<IptablesPrograms> {
  const usable = new Map<Family, Iptables>();
  for (const [family, iptables] of programs) {
    const works = await runMachineProgram(iptables.save, []).then(
      () => true,
      () => false,
    );
    if (works) usable.set(family, iptables);
  }
  return usable;
}

function iptablesBackend(programs: IptablesPrograms, id: string): RuleBackend {
  const apply = async (scriptOf: (family: Family, present: ReadonlySet<string>) => string): Promise<void> => {
    for (const [family, { save, restore }] of programs) {
      const script = scriptOf(family, chainsIn(await runMachineProgram(save, [])));
      if (script !== '') await runMachineProgram(restore, ['--noflush', '--wait'], script);
    }
  };
  return {
    name: 'iptables',
    set: (plan) => apply((family, present) => iptablesScript(plan, family, present)),
    clear: () => apply((_family, present) => iptablesRemovalScript(id, present)),
  };
}

/**
 * A program that sets rules in a way of its own, called once for each rule that is new (`-I`) or gone (`-D`). It is
 * responsible for what a predecessor left.
 */
export function diverterBackend(path: string): RuleBackend {
  let current: { readonly rule: InterceptRule; readonly port: number }[] = [];
  const apply = async (plan: Pick<RulePlan, 'rules' | 'ports' | 'lanInterfaces'>): Promise<void> => {
    const wanted = plan.rules.flatMap((rule) => {
      const port = plan.ports.get(rule.family)?.[rule.protocol];
      return port === undefined ? [] : [{ rule, port }];
    });
    const isIn = (list: typeof current, one: (typeof current)[number]): boolean =>
      list.some((other) => keyOfRule(other.rule) === keyOfRule(one.rule) && other.port === one.port);
    const gone = current.filter((one) => !isIn(wanted, one));
    const added = wanted.filter((one) => !isIn(current, one));
    for (const { rule } of gone) {
      for (const args of diverterArguments('-D', rule, undefined, plan.lanInterfaces))
        await runMachineProgram(path, args);
      current = current.filter((one) => !isDeepStrictEqual(one.rule, rule));
    }
    for (const one of added) {
      for (const args of diverterArguments('-I', one.rule, one.port, plan.lanInterfaces))
        await runMachineProgram(path, args);
      current.push(one);
    }
  };
  return {
    name: path,
    set: apply,
    clear: () => apply({ rules: [], ports: new Map(), lanInterfaces: [] }),
  };
}

/** One call for each source and interface, as OpenZiti's diverters take them. */
function diverterArguments(
  action: '-I' | '-D',
  { network, protocol, ports: { low, high }, sources, family }: InterceptRule,
  port: number | undefined,
  interfaces: readonly string[],
): string[][] {
  const [address = '', prefix = ''] = network.split('/');
  const anywhere = family === 4 ? '0.0.0.0/0' : '::/0';
  return (sources.length === 0 ? [anywhere] : sources).flatMap((source) => {
    const [sourceAddress = '', sourcePrefix = ''] = source.split('/');
    const common = [
      action,
      '-c',
      address,
      '-m',
      prefix,
      '-p',
      protocol,
      '-o',
      sourceAddress,
      '-n',
      sourcePrefix,
      '-l',
      String(low),
      '-h',
      String(high),
      ...(port === undefined ? [] : ['-t', String(port)]),
    ];
    return interfaces.length === 0 ? [common] : interfaces.map((name) => [...common, '-N', name]);
  });
}
