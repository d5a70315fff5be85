/**
 * Who may come in to a share, as one sentence for people, by the functions that decide about requests. It names networks,
 * certificates and times, but no caller: rate limits and origins are left out.
 */
import { provesPeople, type AuthProviderType } from '../provider-types/provider-type-table.ts';
import type { AccessRules } from './access-rules.ts';
import {
  compileRules,
  decideProvability,
  decideTime,
  needsIdentity,
  type CompiledRules,
} from './compiled-rules.ts';

export interface SummedProvider {
  readonly name: string;
  readonly type: AuthProviderType;
  readonly enabled: boolean;
  /** Number of its API keys. */
  readonly keys: number;
}

export interface SummedShare {
  /** Set for a private share: how many machines may dial it. */
  readonly grants: number | undefined;
  /** The names under which gateways serve it. A provider that is not known admits nobody. */
  readonly names: readonly {
    readonly host: string;
    readonly providers: readonly (SummedProvider | undefined)[];
  }[];
  /** Null: there are none. */
  readonly rules: AccessRules | null;
}

export interface AccessSummary {
  /** `everyone`: callers of any network without a credential, under one of the names at least. */
  readonly admits: 'everyone' | 'some' | 'nobody';
  readonly summary: string;
}

/** A list in a sentence names at most so many. */
const MOST_NAMED = 2;
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

export function accessSummary(share: SummedShare, nowMs: number): AccessSummary {
  const { grants, names, rules } = share;
  if (grants !== undefined) return summaryOfPrivate(grants);
  const compiled = compileRules(rules);
  const byName = names.map(({ host, providers }) => ({
    host,
    ...summaryAtName(compiled, providers, nowMs),
  }));
  const bySummary = [...Map.groupBy(byName, ({ summary }) => summary)];
  if (bySummary.length === 0) return { admits: 'nobody', summary: 'Nobody: it has no address' };
  const admits = (['everyone', 'some', 'nobody'] as const).find((wanted) =>
    byName.some((each) => each.admits === wanted),
  )!;
  if (bySummary.length === 1) return { admits, summary: bySummary[0]![0] };
  const sentences = bySummary.map(
    ([summary, at]) =>
      `${summary} (${named(
        at.map(({ host }) => host),
        'names',
      )})`,
  );
  return { admits, summary: sentences.join('; ') };
}

function summaryOfPrivate(grants: number): AccessSummary {
  if (grants === 0) return { admits: 'nobody', summary: 'Nobody: no machine is granted' };
  return { admits: 'some', summary: counted(grants, 'granted machine') };
}

function summaryAtName(
  compiled: CompiledRules,
  providers: readonly (SummedProvider | undefined)[],
  nowMs: number,
): AccessSummary {
  const { rules } = compiled;
  if (decideTime(compiled, nowMs) !== undefined)
    return { admits: 'nobody', summary: `Closed since ${dateOf(rules.expiresAtMs!)}` };
  const hasPeople = providers.some((provider) => provider === undefined || provesPeople(provider.type));
  if (decideProvability(compiled, hasPeople) !== undefined)
    return nobody(rules, 'rules about people, and no sign-in proves who a person is');
  // The ids themselves do not matter.
  const isGuarded = needsIdentity(
    compiled,
    providers.map(() => ''),
  );
  const who = isGuarded ? identified(rules, providers) : 'everyone';
  if (who === '') return nobody(rules, 'every auth provider is disabled');
  const limits = limitsOf(rules);
  const isOpen = !isGuarded && rules.ip.allow.length === 0 && rules.clientCertificate === null;
  return {
    admits: isOpen ? 'everyone' : 'some',
    summary: `${who[0]!.toUpperCase()}${who.slice(1)}${limits}${isGuarded ? pathsOf(rules) : ''}`,
  };
}

/** Public paths stay open to everyone. */
function nobody(rules: AccessRules, reason: string): AccessSummary {
  const paths = pathsOf(rules);
  return { admits: paths === '' ? 'nobody' : 'some', summary: `Nobody: ${reason}${paths}` };
}

/** Each way to prove an identity that may succeed; '' if there is none. */
function identified(rules: AccessRules, providers: readonly (SummedProvider | undefined)[]): string {
  const enabled = providers.filter((provider) => provider?.enabled === true) as SummedProvider[];
  const logIns = enabled.filter(({ type }) => provesPeople(type));
  const ways: string[] = [];
  if (logIns.length > 0) {
    const people = rules.emails.length === 0 ? 'people' : named(rules.emails, 'email patterns');
    const claims = rules.claims.map(({ claim, anyOf }) => `${claim} ${named(anyOf, 'values')}`);
    const having = claims.length === 0 ? '' : ` with ${named(claims, 'claims', ' and ')}`;
    const names = logIns.map(({ name }) => name);
    ways.push(`${people}${having} who sign in with ${named(names, 'providers', ' or ')}`);
  }
  for (const { name, type, keys } of enabled)
    if (!provesPeople(type) && keys > 0) ways.push(`holders of ${counted(keys, 'key')} of ${name}`);
  if (rules.basicAuth.length > 0) ways.push(`${counted(rules.basicAuth.length, 'user')} with a password`);
  return ways.join(' or ');
}

function limitsOf({ ip, clientCertificate, expiresAtMs }: AccessRules): string {
  const from = ip.allow.length === 0 ? '' : ` from ${named(ip.allow, 'networks')}`;
  const except = ip.deny.length === 0 ? '' : ` except from ${named(ip.deny, 'networks')}`;
  const names = clientCertificate?.names ?? [];
  const holder = names.length === 0 ? '' : ` of ${named(names, 'names', ' or ')}`;
  const certificate = clientCertificate === null ? '' : ` with a client certificate${holder}`;
  const until = expiresAtMs === null ? '' : ` until ${dateOf(expiresAtMs)}`;
  return `${certificate}${from}${except}${until}`;
}

function pathsOf({ publicPaths }: AccessRules): string {
  return publicPaths.length === 0 ? '' : `; everyone at ${named(publicPaths, 'public paths')}`;
}

function named(items: readonly string[], kind: string, separator = ', '): string {
  return items.length <= MOST_NAMED ? items.join(separator) : `${items.length} ${kind}`;
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** Its day in UTC. */
function dateOf(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
