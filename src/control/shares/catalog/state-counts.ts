/**
 * Shares by state and machines by presence, counted as they change, because a summary or a scrape cannot look at each of
 * 100,000 in one turn of the loop. A share whose environment has no channel has failed, whatever was measured before.
 */
import type { GuardedShare } from '#domain';
import {
  inSlices,
  type Identity,
  type MeasuredKind,
  type OverlayModel,
  type ServiceState,
  type StatusBoard,
} from '../../overlay/model/mod.ts';
import type { ShareCatalog } from './share-catalog.ts';

export interface ShareCounts {
  readonly total: number;
  readonly pending: number;
  readonly deployed: number;
  readonly failed: number;
  readonly public: number;
  readonly private: number;
}

export interface MachineCounts {
  readonly total: number;
  readonly online: number;
}

export interface VersionCount {
  readonly version: string | null;
  readonly count: number;
}

type MachineKind = 'environment' | 'gateway';

interface Tally {
  readonly shares: { -readonly [Key in keyof ShareCounts]: number };
  readonly machines: Readonly<Record<MachineKind, { -readonly [Key in keyof MachineCounts]: number }>>;
  /** Environments by the version of their agent. */
  readonly versions: Map<string | null, number>;
}

/** How a share was counted last; one object for all shares that were counted in the same way. */
interface CountedAs {
  readonly frontdoorId: string;
  readonly mode: GuardedShare['shareMode'];
  readonly state: ServiceState;
}

interface Machine {
  readonly kind: MachineKind;
  readonly frontdoorId: string | null;
  readonly isOnline: boolean;
  readonly version: string | null;
}

const COUNT_OF = { PENDING: 'pending', DEPLOYED: 'deployed', FAILED: 'failed' } as const;

export class StateCounts {
  readonly #model: OverlayModel;
  readonly #catalog: ShareCatalog;
  readonly #status: StatusBoard;
  readonly #whole = newTally();
  readonly #byFrontdoor = new Map<string, Tally>();
  readonly #shares = new Map<string, CountedAs>();
  readonly #ways = new Map<string, CountedAs>();
  readonly #machines = new Map<string, Machine>();
  /** The last result of `StatusBoard.channels` for each identity that has channels. */
  readonly #channels = new Map<string, string>();
  /** Environments whose shares may have changed their state together. */
  readonly #due = new Set<string>();
  #counting: Promise<void> | undefined;

  constructor(model: OverlayModel, catalog: ShareCatalog, status: StatusBoard) {
    this.#model = model;
    this.#catalog = catalog;
    this.#status = status;
    model.onChange(({ type, id }) => {
      if (type === 'identity') this.#countMachine(id);
    });
    catalog.onChange((id) => this.#countShare(id));
    status.onMeasured((kind, id) => this.#onMeasured(kind, id));
    for (const { id } of model.identities()) this.#countMachine(id);
    this.#counting = this.#count(this.#allShares());
  }

  /** Resolves when the counts contain all changes before the call. */
  async settled(): Promise<void> {
    // Changes during a pass are counted in the next one.
    await this.#counting;
    await this.#counting;
  }

  /** Without a frontdoor, of the installation. */
  shares(frontdoorId?: string): ShareCounts {
    return { ...this.#tallyOf(frontdoorId).shares };
  }

  /** Without a frontdoor, of the installation. */
  machines(kind: MachineKind, frontdoorId?: string): MachineCounts {
    return { ...this.#tallyOf(frontdoorId).machines[kind] };
  }

  /** Versions of agents, the most frequent one first. Without a frontdoor, of the installation. */
  agentVersions(frontdoorId?: string): VersionCount[] {
    return Array.from(this.#tallyOf(frontdoorId).versions, ([version, count]) => ({ version, count })).sort(
      (a, b) => b.count - a.count || String(a.version).localeCompare(String(b.version)),
    );
  }

  /** The state that lists show. */
  stateOf({ id, environmentId }: Pick<GuardedShare, 'id' | 'environmentId'>): ServiceState {
    return this.#shares.get(id)?.state ?? this.#measuredState(id, environmentId);
  }

  #tallyOf(frontdoorId: string | undefined): Tally {
    return frontdoorId === undefined ? this.#whole : (this.#byFrontdoor.get(frontdoorId) ?? newTally());
  }

  #measuredState(id: string, environmentId: string): ServiceState {
    return this.#status.isConnected(environmentId) ? this.#status.service(id).state : 'FAILED';
  }

  #onMeasured(kind: MeasuredKind, id: string): void {
    if (kind === 'service') this.#countShare(id);
    else if (kind === 'identity') this.#countMachine(id);
  }

  #countShare(id: string): void {
    const share = this.#catalog.get(id);
    const before = this.#shares.get(id);
    const after = share && this.#wayOf(share);
    if (before === after) return;
    if (before !== undefined) this.#addShare(before, -1);
    if (after === undefined) {
      this.#shares.delete(id);
      return;
    }
    this.#addShare(after, 1);
    this.#shares.set(id, after);
  }

  #wayOf({ id, environmentId, frontdoorId, shareMode }: GuardedShare): CountedAs {
    const state = this.#measuredState(id, environmentId);
    const key = `${state} ${shareMode} ${frontdoorId}`;
    let way = this.#ways.get(key);
    if (way === undefined) this.#ways.set(key, (way = { frontdoorId, mode: shareMode, state }));
    return way;
  }

  #addShare({ frontdoorId, mode, state }: CountedAs, change: 1 | -1): void {
    for (const { shares } of this.#tallies(frontdoorId)) {
      shares.total += change;
      shares[mode] += change;
      shares[COUNT_OF[state]] += change;
    }
    this.#forgetEmpty(frontdoorId);
  }

  #countMachine(id: string): void {
    const identity = this.#model.identity(id);
    const before = this.#machines.get(id);
    const isOnline = this.#status.isConnected(id);
    if (identity === undefined || !isMachine(identity)) {
      if (before !== undefined) this.#addMachine(before, -1);
      this.#machines.delete(id);
    } else if (before?.isOnline !== isOnline || before.version !== (identity.agentVersion ?? null)) {
      const { kind, ownerId: frontdoorId, agentVersion: version = null } = identity;
      const after = { kind, frontdoorId, isOnline, version };
      if (before !== undefined) this.#addMachine(before, -1);
      this.#addMachine(after, 1);
      this.#machines.set(id, after);
    }
    const channels = this.#status.channels(id);
    if (channels === (this.#channels.get(id) ?? '')) return;
    if (channels === '') this.#channels.delete(id);
    else this.#channels.set(id, channels);
    this.#countSharesOf(id);
  }

  #addMachine({ kind, frontdoorId, isOnline, version }: Machine, change: 1 | -1): void {
    for (const { machines, versions } of this.#tallies(frontdoorId ?? undefined)) {
      if (kind === 'environment') {
        const count = (versions.get(version) ?? 0) + change;
        if (count > 0) versions.set(version, count);
        else versions.delete(version);
      }
      machines[kind].total += change;
      if (isOnline) machines[kind].online += change;
    }
    if (frontdoorId !== null) this.#forgetEmpty(frontdoorId);
  }

  #countSharesOf(environmentId: string): void {
    if (this.#model.hostedBy(environmentId).size === 0) return;
    this.#due.add(environmentId);
    this.#counting ??= this.#count(this.#dueShares());
  }

  async #count(shares: Iterable<string>): Promise<void> {
    // Nothing is counted in the turn of the change, which may be one of many.
    await Promise.resolve();
    for await (const slice of inSlices(shares)) for (const id of slice) this.#countShare(id);
    this.#counting = this.#due.size > 0 ? this.#count(this.#dueShares()) : undefined;
  }

  *#allShares(): Generator<string, void> {
    for (const { id } of this.#catalog.all()) yield id;
  }

  *#dueShares(): Generator<string, void> {
    for (const environmentId of this.#due) {
      this.#due.delete(environmentId);
      yield* this.#model.hostedBy(environmentId);
    }
  }

  #tallies(frontdoorId: string | undefined): Tally[] {
    if (frontdoorId === undefined) return [this.#whole];
    let tally = this.#byFrontdoor.get(frontdoorId);
    if (tally === undefined) this.#byFrontdoor.set(frontdoorId, (tally = newTally()));
    return [this.#whole, tally];
  }

  #forgetEmpty(frontdoorId: string): void {
    const tally = this.#byFrontdoor.get(frontdoorId);
    if (tally === undefined || tally.shares.total + tally.machines.environment.total > 0) return;
    this.#byFrontdoor.delete(frontdoorId);
    for (const [key, way] of this.#ways) if (way.frontdoorId === frontdoorId) this.#ways.delete(key);
  }
}

function isMachine(identity: Identity): identity is Identity & { readonly kind: MachineKind } {
  return identity.kind === 'environment' || identity.kind === 'gateway';
}

function newTally(): Tally {
  return {
    shares: { total: 0, pending: 0, deployed: 0, failed: 0, public: 0, private: 0 },
    machines: { environment: { total: 0, online: 0 }, gateway: { total: 0, online: 0 } },
    versions: new Map(),
  };
}
