/**
 * Compares how two sets of rules and auth providers decide about a request that a gateway recorded. Records have neither
 * the claims nor the certificate of a caller, nor the provider that identified it: what was decided then shows whether
 * they satisfied the rules before, and where these differ, both possibilities are looked at.
 */
import { provesPeople } from '../provider-types/provider-type-table.ts';
import {
  explainAccess,
  type AccessExplanation,
  type ExplainedProvider,
  type ExplainedRequest,
} from './access-explanation.ts';
import { OPEN_RULES, type AccessRules } from './access-rules.ts';
import { compileRules, type CompiledRules } from './compiled-rules.ts';

export interface RecordedRequest extends Pick<
  ExplainedRequest,
  'host' | 'method' | 'target' | 'origin' | 'isPreflight'
> {
  readonly address: string;
  readonly atMs: number;
  /** The subject, and the e-mail address in angle brackets if it differs; null: nobody was identified. */
  readonly identity: string | null;
  /** The gateway's word for why it admitted or refused the request. */
  readonly decision: string;
}

export type AccessComparison =
  /** `unknown`: it depends on what the record does not have. */
  | { readonly outcome: 'same' | 'unknown' }
  | {
      readonly outcome: 'different';
      readonly before: AccessExplanation;
      readonly after: AccessExplanation;
    };

/** What the record does not show: whether the caller satisfies the claim rules, and the rules on certificates. */
interface Assumption {
  readonly claims: boolean;
  readonly certificate: boolean;
}

/** An assumption about each set of rules, and whether the provider that identified the caller is among those after the change. */
interface Possibility {
  readonly before: Assumption;
  readonly after: Assumption;
  readonly isIdentified: boolean;
}

/** One set of rules under each assumption. */
class AssumedRules {
  readonly rules: AccessRules;
  readonly #compiled = new Map<string, CompiledRules>();

  constructor(given: AccessRules | null) {
    this.rules = given ?? OPEN_RULES;
  }

  under({ claims, certificate }: Assumption): CompiledRules {
    const key = `${claims} ${certificate}`;
    let compiled = this.#compiled.get(key);
    if (compiled === undefined) {
      const { rules } = this;
      const assumed = compileRules({
        ...rules,
        claims: claims ? [] : rules.claims,
        clientCertificate: certificate ? null : rules.clientCertificate,
      });
      // Rules that are satisfied still need someone who can prove it.
      compiled = { ...assumed, hasIdentityRules: rules.emails.length > 0 || rules.claims.length > 0 };
      this.#compiled.set(key, compiled);
    }
    return compiled;
  }
}

export class AccessComparer {
  readonly #before: AssumedRules;
  readonly #after: AssumedRules;
  readonly #sameClaims: boolean;
  readonly #sameCertificate: boolean;

  constructor(before: AccessRules | null, after: AccessRules | null) {
    this.#before = new AssumedRules(before);
    this.#after = new AssumedRules(after);
    const [one, other] = [this.#before.rules, this.#after.rules];
    this.#sameClaims = isEqual(one.claims, other.claims);
    this.#sameCertificate = isEqual(one.clientCertificate, other.clientCertificate);
  }

  /** `after` are the auth providers after the change, if they change. */
  compare(
    providers: readonly ExplainedProvider[],
    recorded: RecordedRequest,
    after: readonly ExplainedProvider[] = providers,
  ): AccessComparison {
    const request = requestOf(recorded);
    const unidentified = { ...request, person: undefined, keyName: undefined };
    const known = isIdentifiedAfter(request, providers, after);
    const pairs = this.#possibilities(recorded, known).map((each) => ({
      before: explainAccess(this.#before.under(each.before), providers, request),
      after: explainAccess(this.#after.under(each.after), after, each.isIdentified ? request : unidentified),
    }));
    const different = pairs.filter(({ before, after }) => !isSameDecision(before, after));
    if (different.length === 0) return { outcome: 'same' };
    if (different.length < pairs.length) return { outcome: 'unknown' };
    return { outcome: 'different', ...different[0]! };
  }

  *#pairsOf(known: boolean | undefined, isSame: boolean): Iterable<readonly [boolean, boolean]> {
    for (const before of known === undefined ? [true, false] : [known])
      for (const after of isSame ? [before] : [true, false]) yield [before, after];
  }

  #possibilities({ decision }: RecordedRequest, known: boolean | undefined): Possibility[] {
    const isBeforeCertificates = decision === 'access-expired' || decision.startsWith('address-');
    const hadCertificate = isBeforeCertificates ? undefined : !decision.startsWith('certificate-');
    const hadClaims = decision === 'session' || decision === 'token' ? true : claimsOf(decision);
    const all: Possibility[] = [];
    for (const claims of this.#pairsOf(hadClaims, this.#sameClaims))
      for (const certificate of this.#pairsOf(hadCertificate, this.#sameCertificate))
        for (const isIdentified of known === undefined ? [true, false] : [known])
          all.push({
            before: { claims: claims[0], certificate: certificate[0] },
            after: { claims: claims[1], certificate: certificate[1] },
            isIdentified,
          });
    return all;
  }
}

/** Whether the provider that identified the caller is there after the change, too; undefined: the record does not show it. */
function isIdentifiedAfter(
  { person, keyName }: ExplainedRequest,
  before: readonly ExplainedProvider[],
  after: readonly ExplainedProvider[],
): boolean | undefined {
  if (person === undefined && keyName === undefined) return true;
  const able = before.filter(
    ({ enabled, type, keys }) =>
      enabled && (keyName === undefined ? provesPeople(type) : keys.some(({ name }) => name === keyName)),
  );
  const kept = able.filter(({ id }) => after.some((each) => each.id === id)).length;
  return kept === able.length ? true : kept === 0 ? false : undefined;
}

function claimsOf(decision: string): boolean | undefined {
  return decision === 'claim-not-met' ? false : undefined;
}

function requestOf({ atMs, identity, decision, ...request }: RecordedRequest): ExplainedRequest {
  const [kind, name] = decision.split(/ (.*)/s);
  const keyName = kind === 'api-key' ? name : undefined;
  const basicUser = kind === 'basic' ? name : undefined;
  const isPerson =
    identity !== null && keyName === undefined && basicUser === undefined && kind !== 'certificate';
  return {
    ...request,
    isSecure: true,
    nowMs: atMs,
    providerId: undefined,
    person: isPerson ? { email: emailOf(identity), groups: [], claims: {} } : undefined,
    keyName,
    basicUser,
    certificateName: undefined,
  };
}

function emailOf(identity: string): string | null {
  const [, inBrackets] = / <([^<>]+)>$/.exec(identity) ?? [];
  return inBrackets ?? (identity.includes('@') ? identity : null);
}

function isSameDecision(one: AccessExplanation, other: AccessExplanation): boolean {
  return one.decision === other.decision && one.status === other.status;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
