/** Creates the TXT records of one order, waits until they are visible, and removes them. */
import { messageOf, systemClock } from '#base';
import { awaitTxtRecord, openDnsResolver } from '../txt-record.ts';
import { nameBehindAliases } from './challenge-alias.ts';
import { providerFailure, type ChallengeRecord, type DnsProvider } from './dns-provider.ts';
import type { RecordJournal } from './record-journal.ts';

export interface ChallengeRecordsOptions {
  /** `hook`, or the name of a DNS provider. */
  readonly providerName: string;
  readonly provider: DnsProvider;
  /** `address` or `address:port` of the servers to ask; without any, those of the zone. */
  readonly servers: readonly string[];
  readonly journal: RecordJournal;
  /** Ends calls and waits. */
  readonly signal: AbortSignal;
  /** Takes a sentence for the log. */
  readonly onNote: (note: string) => void;
}

export class ChallengeRecords {
  readonly #options: ChallengeRecordsOptions;
  readonly #created: ChallengeRecord[] = [];

  constructor(options: ChallengeRecordsOptions) {
    this.#options = options;
  }

  /** Resolves when the name servers of the zone have the record, or none answered in time. `name` has no dot at its end. */
  async present(name: string, value: string): Promise<{ readonly target: string; readonly isSeen: boolean }> {
    const { provider, providerName, servers, journal, signal, onNote } = this.#options;
    const target = await nameBehindAliases(name, openDnsResolver(servers));
    const record = { name, target, value };
    checkDelegation(record, provider.delegations);
    await journal.note({ ...record, provider: providerName, atMs: systemClock.nowMs() });
    this.#created.push(record);
    await provider.add(record, signal);
    const isSeen = await awaitTxtRecord({ name: target, value }, { servers, signal });
    if (!isSeen)
      onNote(
        `no name server answers about the TXT record ${target}, so it is not known whether it is visible`,
      );
    return { target, isSeen };
  }

  /** Never rejects: the journal has a record that is left behind. */
  async cleanUp(name: string, value: string, signal = this.#options.signal): Promise<void> {
    const { provider, journal, onNote } = this.#options;
    const at = this.#created.findIndex((each) => each.name === name && each.value === value);
    const [record] = at === -1 ? [] : this.#created.splice(at, 1);
    if (record === undefined) return;
    try {
      await provider.remove(record, signal);
      await journal.forget(record);
    } catch (error) {
      onNote(
        `the TXT record ${record.target} could not be removed, and is removed later: ${messageOf(error)}`,
      );
    }
  }
}

/**
 * An alias is in a zone that someone else may own, and could lead to any name of the operator's zones: even a TXT record there
 * hides what a wildcard record answers.
 */
function checkDelegation({ name, target }: ChallengeRecord, allowed: readonly string[] | undefined): void {
  if (allowed === undefined || target === name) return;
  if (allowed.some((zone) => target === zone || target.endsWith(`.${zone}`))) return;
  throw providerFailure(
    `${name} is an alias (CNAME) of ${target}, which is not below a name that aliases may lead to: to allow it, name a ` +
      `domain that has nothing but such records, as in --acme-dns-setting delegation=${target.split('.').slice(1).join('.')}`,
  );
}
