/**
 * Which rules of a share decide nothing as the share is guarded now, and why. Rules about people that nobody can prove
 * are among them: gateways then admit nobody (`decideProvability`). `ineffective-rules.test.ts` holds the table to the
 * decisions themselves.
 */
import { OPEN_RULES, type AccessRules } from './access-rules.ts';
import { compileRules, decideProvability, needsIdentity } from './compiled-rules.ts';

/** What guards the share beside its rules. */
export interface ShareGuards {
  readonly isPrivate: boolean;
  readonly authProviderIds: readonly string[];
  /** Whether one of the providers proves people. */
  readonly hasPeople: boolean;
}

export type IneffectiveReason =
  /** Gateways do not serve private shares, and nobody else evaluates rules. */
  | 'private'
  /** A rule about people, at a share where nobody can prove to be one: everyone is refused. */
  | 'person-unprovable'
  /** Nobody can log in, so there are no sessions. */
  | 'no-log-in'
  /** No caller has to be identified, so all paths and methods are served. */
  | 'no-identity'
  /** No browser identifies callers by itself, so pages of all origins may act. */
  | 'no-browser-identity';

export interface IneffectiveRule {
  readonly rule: keyof AccessRules;
  readonly reason: IneffectiveReason;
}

/** Fields that decide nothing about access. */
type Setting = 'responseTimeoutMs' | 'contact' | 'cors' | 'hsts' | 'httpsRedirect';
type Test = (rules: AccessRules, guards: ShareGuards) => IneffectiveReason | undefined;

const always: Test = () => undefined;
const ofPeople: Test = (rules, { hasPeople }) =>
  decideProvability(compileRules(rules), hasPeople) === undefined ? undefined : 'person-unprovable';
const ofIdentity: Test = (rules, { authProviderIds }) =>
  needsIdentity(compileRules(rules), authProviderIds) ? undefined : 'no-identity';
/** Browsers present certificates by themselves, so that pages of other origins may act at public paths alone. */
const ofPaths: Test = (rules, guards) =>
  rules.clientCertificate === null ? ofIdentity(rules, guards) : undefined;
const ofSessions: Test = (_rules, { hasPeople }) => (hasPeople ? undefined : 'no-log-in');
const ofBrowsers: Test = ({ basicAuth, clientCertificate }, { hasPeople }) =>
  hasPeople || basicAuth.length > 0 || clientCertificate !== null ? undefined : 'no-browser-identity';

const TESTS: Readonly<Record<Exclude<keyof AccessRules, Setting>, Test>> = {
  emails: ofPeople,
  claims: ofPeople,
  basicAuth: always,
  clientCertificate: always,
  ip: always,
  publicPaths: ofPaths,
  expiresAtMs: always,
  rateLimit: always,
  session: ofSessions,
  allowedOrigins: ofBrowsers,
  allowPreflights: ofIdentity,
};

/** Only rules that are set are listed, in the order of the table. */
export function ineffectiveRules(rules: AccessRules, guards: ShareGuards): IneffectiveRule[] {
  const names = Object.keys(TESTS) as (keyof typeof TESTS)[];
  return names
    .filter((rule) => isSet(rules, rule))
    .flatMap((rule) => {
      const reason = guards.isPrivate ? 'private' : TESTS[rule](rules, guards);
      return reason === undefined ? [] : [{ rule, reason }];
    });
}

function isSet(rules: AccessRules, rule: keyof AccessRules): boolean {
  return JSON.stringify(rules[rule]) !== JSON.stringify(OPEN_RULES[rule]);
}
