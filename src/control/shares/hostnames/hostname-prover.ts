/**
 * Asks DNS for the proofs of claimed hostnames and applies what it answers. Each control plane takes what is due
 * from the store, a few of each organization at once; an organization whose name servers do not answer pauses. ADR 0061.
 */
import { messageOf, type Log } from '#base';
import type { TxtAnswer } from '#domain';
import type { AuditParts } from '../../audit/mod.ts';
import { concerns, type Store } from '../../store/mod.ts';
import {
  contestOf,
  isProvenByAnother,
  lockClaim,
  noteLookUp,
  takeDueProofs,
  type HostnameClaim,
  type ProofChange,
} from '../records/hostname-proof-store.ts';
import { decide, endUnproven } from './hostname-decisions.ts';
import { OrganizationPauses } from './organization-pauses.ts';
import {
  challengeName,
  challengeValue,
  judgeProof,
  nextProof,
  type ProofStep,
  type ProofVerdict,
} from './hostname-proof-policy.ts';
import { registrableDomain } from './registrable-domain.ts';

const PASS_MS = 5_000;
/** For changes in quick succession. */
const SOON_MS = 200;
/** Longer than the look-ups of a pass take. */
const LEASE_MS = 180_000;
const MOST_IN_A_PASS = 64;
const MOST_OF_AN_ORGANIZATION = 8;
const MAX_RUNNING = 16;

export interface HostnameProverOptions extends AuditParts {
  readonly store: Pick<Store, 'db' | 'transaction' | 'onChange'>;
  readonly log: Log;
  /** Asks DNS. It never rejects, and ends by itself or by the signal. */
  readonly txt: (name: string, signal: AbortSignal) => Promise<TxtAnswer>;
  /** From 0 to 1. */
  readonly random?: (() => number) | undefined;
}

const ACTIONS = { prove: 'proveHostname', miss: 'missHostnameProof', lose: 'loseHostname' } as const;

type KeptStep = Extract<ProofStep, { readonly type: 'keep' }>;

export class HostnameProver {
  readonly #options: HostnameProverOptions;
  readonly #pauses: OrganizationPauses;
  readonly #timer: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  readonly #closing = new AbortController();

  constructor(options: HostnameProverOptions) {
    this.#options = options;
    this.#pauses = new OrganizationPauses(options.clock);
    options.store.onChange((changes) => {
      if (concerns(changes, 'custom-frontend', 'hostname-claim')) this.lookSoon();
    });
    this.#timer = setInterval(() => void this.pass(), PASS_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#running;
  }

  /** Looks at what is due in a moment. */
  lookSoon(): void {
    if (this.#closing.signal.aborted) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.pass();
    }, SOON_MS).unref();
  }

  /** Asks for what is due now, and again if that is called in the meantime. Never rejects. */
  pass(): Promise<void> {
    this.#again = this.#running !== undefined;
    this.#running ??= this.#passes().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #passes(): Promise<void> {
    try {
      do {
        this.#again = false;
        if ((await this.#pass()) > 0) this.#again = true;
      } while (this.#again && !this.#closing.signal.aborted);
    } catch (error) {
      this.#options.log.warn({ cause: messageOf(error) }, 'proofs of hostnames could not be looked up');
    }
  }

  /** Returns the number of look-ups. */
  async #pass(): Promise<number> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    const due = await takeDueProofs(store.db, {
      nowMs,
      leaseUntilMs: nowMs + LEASE_MS,
      most: MOST_IN_A_PASS,
      mostPerOrganization: MOST_OF_AN_ORGANIZATION,
      except: this.#pauses.paused(),
    });
    const waiting = [...due];
    const next = async (): Promise<void> => {
      for (
        let claim = waiting.shift();
        claim !== undefined && !this.#closing.signal.aborted;
        claim = waiting.shift()
      )
        await this.#prove(claim);
    };
    await Promise.all(Array.from({ length: Math.min(MAX_RUNNING, due.length) }, next));
    return due.length;
  }

  async #prove(claim: HostnameClaim): Promise<void> {
    const { store, txt, clock, random = Math.random } = this.#options;
    const { hostname, organizationId } = claim;
    const domain = await registrableDomain(hostname);
    const isDomainOfAnother = await isProvenByAnother(store.db, domain, organizationId);
    const { signal } = this.#closing;
    const ofDomain = await txt(challengeName(domain), signal);
    const ofName = hostname === domain ? ofDomain : await txt(challengeName(hostname), signal);
    // Another control plane, or the next start, asks again.
    if (signal.aborted) return;
    const question = { hostname, domain, isDomainOfAnother, value: challengeValue(organizationId) };
    const verdict = judgeProof(question, ofName, ofDomain);
    this.#pauses.note(organizationId, verdict.outcome !== 'unknown');
    const step = nextProof(claim, verdict.outcome, clock.nowMs(), random());
    if (step.type === 'keep') await noteLookUp(store.db, claim, this.#changeOf(claim, verdict, step));
    else await this.#apply(claim, verdict, step);
  }

  async #apply(
    taken: HostnameClaim,
    verdict: ProofVerdict,
    step: Exclude<ProofStep, KeptStep>,
  ): Promise<void> {
    const { store, log } = this.#options;
    const outcome = await store.transaction(async (trx, touch) => {
      const claim = await lockClaim(trx, taken.id);
      // Deleted, or decided by others in the meantime.
      if (claim?.proof !== taken.proof) return undefined;
      if (step.type === 'end') {
        await endUnproven(trx, touch, this.#options, claim);
        return 'endHostnameClaim';
      }
      const change = this.#changeOf(claim, verdict, step);
      if (step.type === 'prove' && claim.proof === 'PENDING') {
        const problem = await contestOf(trx, claim, this.#options.clock.nowMs());
        if (problem !== undefined) return this.#contested(trx, touch, claim, problem);
      }
      const action = ACTIONS[step.type];
      await decide(trx, touch, this.#options, claim, change, action);
      return action;
    });
    if (outcome === undefined) return;
    const { hostname, organizationId } = taken;
    const fields = { hostname, organizationId, problem: 'problem' in verdict ? verdict.problem : undefined };
    if (outcome === 'proveHostname') log.info(fields, 'a hostname is proven');
    else if (outcome === 'missHostnameProof') log.warn(fields, 'the record that proves a hostname is gone');
    else
      log.warn(fields, outcome === 'loseHostname' ? 'a hostname is no longer served' : 'a claim has ended');
  }

  /** Someone else is served at a name that the record proves. */
  async #contested(
    ...[trx, touch, claim, problem]: [
      ...Parameters<Parameters<Store['transaction']>[0]>,
      HostnameClaim,
      string,
    ]
  ): Promise<string | undefined> {
    const { clock, random = Math.random } = this.#options;
    const step = nextProof(claim, 'absent', clock.nowMs(), random());
    if (step.type === 'end') {
      await endUnproven(trx, touch, this.#options, claim);
      return 'endHostnameClaim';
    }
    await noteLookUp(trx, claim, this.#changeOf(claim, { outcome: 'absent', problem }, step));
    return undefined;
  }

  #changeOf(
    { proofName }: HostnameClaim,
    verdict: ProofVerdict,
    { state, dueInMs, type }: Exclude<ProofStep, { readonly type: 'end' }>,
  ): ProofChange {
    const isProven = verdict.outcome === 'proven';
    return {
      ...state,
      proofName: isProven ? verdict.provenBy : type === 'lose' ? null : proofName,
      problem: isProven ? null : verdict.problem,
      dueAtMs: this.#options.clock.nowMs() + dueInMs,
    };
  }
}
