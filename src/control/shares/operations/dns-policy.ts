/** Judges what DNS says about a name below a custom frontend, beside what it says about the zone it should lead to. */
import type { NameRecords, TxtAnswer } from '#domain';
import { hasValue } from '../hostnames/hostname-proof-policy.ts';

export type DnsState = 'correct' | 'missing' | 'different' | 'unknown';

export interface DnsJudgement {
  readonly state: DnsState;
  /** The alias, or else the addresses. */
  readonly found: readonly string[];
  /** Why the records are not known; null if they are. */
  readonly problem: string | null;
}

/** A name that leads to the addresses of the zone is right, too: not every DNS provider can serve an alias there. */
export function judgeDns(zone: string, ofName: NameRecords, ofZone: NameRecords): DnsJudgement {
  const { alias, addresses, problem } = ofName;
  const found = alias === undefined ? addresses : [alias];
  if (alias === undefined && addresses.length === 0)
    return problem === undefined
      ? { state: 'missing', found, problem: null }
      : { state: 'unknown', found, problem };
  if (alias !== undefined && isAt(alias, zone)) return { state: 'correct', found, problem: null };
  if (addresses.some((address) => ofZone.addresses.includes(address)))
    return { state: 'correct', found, problem: null };
  if (ofZone.problem !== undefined) return { state: 'unknown', found, problem: ofZone.problem };
  return { state: 'different', found, problem: null };
}

function isAt(alias: string, zone: string): boolean {
  const [name, top] = [alias, zone].map((each) => each.toLowerCase().replace(/\.$/, '')) as [string, string];
  return name === top || name.endsWith(`.${top}`);
}

/** Judges the TXT records of a name. */
export function judgeText(value: string, answer: TxtAnswer): Pick<DnsJudgement, 'state' | 'problem'> {
  if (hasValue(answer, value)) return { state: 'correct', problem: null };
  if (answer.problem !== undefined) return { state: 'unknown', problem: answer.problem };
  return { state: answer.values.length === 0 ? 'missing' : 'different', problem: null };
}
