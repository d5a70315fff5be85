/**
 * The posture checks of the edge management API, and which of them each service policy demands, which is computed once
 * after a change. Whether the device of a session passes is judged by the posture that it reported.
 */
import { postureFault, type Posture, type PostureCheck } from '#domain/posture';
import { attributedOf, type EdgeEntityRecord, type EdgePolicy } from './edge-entity.ts';
import { postureCheckOf } from './posture-check.ts';
import { isSelected, type Attributed } from './role-policy.ts';

export interface KnownCheck {
  readonly record: EdgeEntityRecord;
  readonly check: PostureCheck;
}

/** A policy that would grant the access, and its checks that the device does not pass. */
export interface FailedPolicy {
  readonly policy: EdgePolicy;
  readonly checks: readonly EdgeEntityRecord[];
}

export class PostureChecks {
  readonly #checks = new Map<string, KnownCheck & { readonly attributed: Attributed }>();
  readonly #byPolicy = new Map<string, readonly KnownCheck[]>();
  #timedCount = 0;

  get size(): number {
    return this.#checks.size;
  }

  /** Whether time alone can end what a check permits. */
  get areTimed(): boolean {
    return this.#timedCount > 0;
  }

  set(record: EdgeEntityRecord): void {
    const check = postureCheckOf(record);
    this.#checks.set(record.id, { record, check, attributed: attributedOf(record) });
    if (check.subtype.case === 'mfa') this.#timedCount += 1;
    this.#byPolicy.clear();
  }

  /** Also takes the id of a policy, and of anything else. */
  remove(id: string): void {
    this.#byPolicy.delete(id);
    const known = this.#checks.get(id);
    if (known === undefined) return;
    if (known.check.subtype.case === 'mfa') this.#timedCount -= 1;
    this.#checks.delete(id);
    this.#byPolicy.clear();
  }

  all(): IterableIterator<KnownCheck> {
    return this.#checks.values();
  }

  /** Returns the checks that the policy demands. */
  of({ id, postureChecks, semantic }: EdgePolicy): readonly KnownCheck[] {
    const known = this.#byPolicy.get(id);
    if (known !== undefined) return known;
    const found = [...this.#checks.values()].filter(({ attributed }) =>
      isSelected(postureChecks, semantic, attributed),
    );
    this.#byPolicy.set(id, found);
    return found;
  }

  /**
   * `policies` are those that grant an access. Returns undefined if there are none, or the device passes all checks of one
   * of them; otherwise, what each of them demands.
   */
  failuresOf(
    policies: Iterable<EdgePolicy>,
    posture: Posture | undefined,
    nowMs: number,
  ): readonly FailedPolicy[] | undefined {
    if (this.#checks.size === 0) return undefined;
    const failed: FailedPolicy[] = [];
    for (const policy of policies) {
      const checks = this.of(policy)
        .filter(({ check }) => postureFault(check, posture, nowMs) !== undefined)
        .map(({ record }) => record);
      if (checks.length === 0) return undefined;
      failed.push({ policy, checks });
    }
    return failed.length === 0 ? undefined : failed;
  }
}
