/**
 * What a policy and the auth providers beside it mean, as sentences for people: one for each rule that is set, in the order in which
 * people ask. The words come from the caller, so that the console has them in its languages. A rule that this version does not know
 * is named, never left out. Pure, and without imports, because the console is bundled with it.
 */
import type { SharePolicy, SharePolicyBody } from './schemas/access-schemas.ts';

export interface AccessSentence {
  /** The field of the API that the sentence is about. */
  readonly field: string;
  readonly text: string;
}

/** An auth provider of a share. */
export interface SentenceProvider {
  readonly name: string;
  readonly enabled: boolean;
  /** Whether callers prove themselves by its keys, so that nobody signs in. */
  readonly hasKeys: boolean;
}

export interface SentenceForm {
  readonly nowMs: number;
  readonly date: (atMs: number) => string;
  readonly number: (value: number) => string;
}

/** A policy as it was read. One of an earlier version lacks fields, one of a later version has more. */
export type SentencePolicy = SharePolicyBody;

/** The words in English. Other languages have the same. */
export const ACCESS_WORDS = {
  either: (first: string, last: string) => `${first} or ${last}`,
  both: (first: string, last: string) => `${first} and ${last}`,
  more: (count: string) => `${count} more`,
  nobody: 'Nobody gets in: rules on email addresses or groups need a sign-in provider.',
  everyone: 'Everyone can open it without signing in, unless a rule refuses the request.',
  signIn: (providers: string) => `Visitors sign in with ${providers}.`,
  keys: (providers: string) => `Programs present a key of ${providers}.`,
  disabled: (providers: string) => `Disabled, so nobody gets in with it: ${providers}.`,
  emails: (patterns: string) => `Only ${patterns}.`,
  groups: (values: string) => `Only members of ${values}.`,
  claim: (claim: string, values: string) => `Only people whose claim ${claim} is ${values}.`,
  users: (users: string) => `With a user name and password: ${users}.`,
  certificate: 'Every client presents a certificate of a trusted authority.',
  certificateOf: (holders: string) =>
    `Every client presents a certificate of a trusted authority, issued to ${holders}.`,
  from: (networks: string) => `Only from ${networks}.`,
  notFrom: (networks: string) => `Not from ${networks}.`,
  until: (date: string) => `Until ${date}.`,
  closed: (date: string) => `Closed since ${date}.`,
  rate: (requests: string, span: string) => `At most ${requests} requests in ${span} for each caller.`,
  paths: (paths: string) => `Everyone can open ${paths} without signing in.`,
  session: (idle: string, absolute: string) =>
    `Sessions end after ${idle} without use, and after ${absolute} at the latest.`,
  origins: (origins: string) => `Pages of ${origins} can send changes for people who are signed in.`,
  preflights: 'CORS preflights reach the service without signing in.',
  timeout: (span: string) => `The service has ${span} to respond.`,
  contact: (contact: string) => `People who are refused see ${contact}.`,
  cors: (origins: string) => `Pages of ${origins} can read responses.`,
  corsAny: 'Pages of every site can read responses.',
  corsWithSignIn: (origins: string) =>
    `Pages of ${origins} can read responses, and send requests for people who are signed in.`,
  hsts: (span: string) => `Browsers use only HTTPS for ${span} after each visit.`,
  hstsBelow: (span: string) =>
    `Browsers use only HTTPS for ${span} after each visit, also for names below this one.`,
  hstsPreload: (span: string) =>
    `Browsers use only HTTPS for ${span} after each visit, also for names below this one, and may ship with this rule.`,
  hstsEnds: 'Browsers forget that they should use only HTTPS.',
  redirect: (value: string) =>
    value === 'always'
      ? 'Plain HTTP is redirected to HTTPS.'
      : value === 'never'
        ? 'Plain HTTP is not redirected to HTTPS.'
        : `Redirect from plain HTTP to HTTPS: ${value}.`,
  unknown: (field: string) => `The rule ${field} is set, which this version cannot describe.`,
  span: (count: string, unit: string) => `${count} ${count === '1' ? unit.replace(/s$/, '') : unit}`,
};

type WordsLike<T> = {
  readonly [K in keyof T]: T[K] extends (...values: infer Values) => string
    ? (...values: Values) => string
    : string;
};
export type AccessWords = WordsLike<typeof ACCESS_WORDS>;

/** The values of rules that are not set. Held to the default policy by a test. */
export const NO_RULES: SharePolicy = {
  emails: [],
  claims: [],
  basicAuth: [],
  clientCertificate: null,
  ipAllow: [],
  ipDeny: [],
  publicPaths: [],
  expiresAt: null,
  rateLimit: null,
  session: { idle: 'PT8H', absolute: 'P7D' },
  allowedOrigins: [],
  allowPreflights: false,
  responseTimeoutSeconds: null,
  contact: null,
  cors: null,
  hsts: null,
  httpsRedirect: 'auto',
};
/** A list in a sentence names at most so many. */
const MOST_NAMED = 3;
const SECONDS_PER = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;
const SPAN = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;

interface Writer {
  readonly words: AccessWords;
  readonly form: SentenceForm;
  /** At most three items, and how many there are beside them. */
  list(items: readonly string[], join: (first: string, last: string) => string): string;
  seconds(total: number): string;
  span(iso: string): string;
}

type Describe = { readonly [K in keyof SharePolicy]: (value: SharePolicy[K], writer: Writer) => string[] };

/** In the order of the sentences. */
const DESCRIBE: Describe = {
  emails: (emails, { words, list }) => [words.emails(list(emails, words.either))],
  claims: (claims, { words, list }) =>
    claims.map(({ claim, anyOf }) => {
      const values = list(anyOf, words.either);
      return claim === 'groups' ? words.groups(values) : words.claim(claim, values);
    }),
  basicAuth: (users, { words, list }) => [
    words.users(
      list(
        users.map(({ name }) => name),
        words.either,
      ),
    ),
  ],
  clientCertificate: (rule, { words, list }) => {
    const holders = rule?.names ?? [];
    return [holders.length === 0 ? words.certificate : words.certificateOf(list(holders, words.either))];
  },
  ipAllow: (networks, { words, list }) => [words.from(list(networks, words.either))],
  ipDeny: (networks, { words, list }) => [words.notFrom(list(networks, words.either))],
  expiresAt: (at, { words, form }) => {
    const atMs = Date.parse(at ?? '');
    if (Number.isNaN(atMs)) return [words.until(at ?? '')];
    return [atMs <= form.nowMs ? words.closed(form.date(atMs)) : words.until(form.date(atMs))];
  },
  rateLimit: (limit, { words, form, span }) =>
    limit === null ? [] : [words.rate(form.number(limit.requests), span(limit.per))],
  publicPaths: (paths, { words, list }) => [words.paths(list(paths, words.both))],
  session: (given, { words, span }) => {
    const { idle, absolute }: Partial<SharePolicy['session']> = given;
    return [words.session(span(idle ?? NO_RULES.session.idle), span(absolute ?? NO_RULES.session.absolute))];
  },
  allowedOrigins: (origins, { words, list }) => [words.origins(list(origins, words.both))],
  allowPreflights: (_value, { words }) => [words.preflights],
  cors: (cors, { words, list }) => {
    if (cors === null) return [];
    if (cors.origins.includes('*')) return [words.corsAny];
    const origins = list(cors.origins, words.both);
    return [cors.credentials ? words.corsWithSignIn(origins) : words.cors(origins)];
  },
  hsts: (hsts, { words, seconds }) => {
    if (hsts === null) return [];
    const { maxAgeSeconds, includeSubdomains, preload } = hsts;
    if (maxAgeSeconds === 0) return [words.hstsEnds];
    const say = preload ? words.hstsPreload : includeSubdomains ? words.hstsBelow : words.hsts;
    return [say(seconds(maxAgeSeconds))];
  },
  httpsRedirect: (value, { words }) => [words.redirect(value)],
  responseTimeoutSeconds: (value, { words, seconds }) => [words.timeout(seconds(value ?? 0))],
  contact: (contact, { words }) => [words.contact(contact ?? '')],
};

/** The fields of a policy in the order of the sentences. */
export const RULE_FIELDS = Object.keys(DESCRIBE) as readonly (keyof SharePolicy)[];

/** `providers`: undefined for a policy that belongs to no single share. `warnings` of an answer are no rule. */
export function accessSentences(
  policy: SentencePolicy,
  providers: readonly SentenceProvider[] | undefined,
  words: AccessWords,
  form: SentenceForm,
): AccessSentence[] {
  const writer = writerOf(words, form);
  const first = providers === undefined ? [] : providerSentences(policy, providers, writer);
  return [
    ...first.map((text) => ({ field: 'authProviderIds', text })),
    ...setRules(policy).flatMap((field) => textsOf(policy, field, writer).map((text) => ({ field, text }))),
  ];
}

/** Names of the rules that are set, in the order of the sentences; those that this version does not know are the last. */
export function setRules(policy: SentencePolicy): string[] {
  const given = policy as Readonly<Record<string, unknown>>;
  const known: readonly string[] = RULE_FIELDS;
  const others = Object.keys(given).filter((field) => !known.includes(field) && field !== 'warnings');
  return [...known, ...others].filter((field) => isSetRule(field, given[field]));
}

function isSetRule(field: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (Object.hasOwn(NO_RULES, field))
    return JSON.stringify(value) !== JSON.stringify(NO_RULES[field as keyof SharePolicy]);
  // The default of a rule that is not known is not known either; these say nothing in any rule.
  return value !== null && value !== false && !(Array.isArray(value) && value.length === 0);
}

function textsOf(policy: SentencePolicy, field: string, writer: Writer): string[] {
  if (!Object.hasOwn(DESCRIBE, field)) return [writer.words.unknown(field)];
  const describe = DESCRIBE[field as keyof SharePolicy] as (value: unknown, writer: Writer) => string[];
  return describe(policy[field as keyof SharePolicy], writer);
}

function providerSentences(
  { basicAuth = [], emails = [], claims = [] }: SentencePolicy,
  providers: readonly SentenceProvider[],
  { words, list }: Writer,
): string[] {
  if (emails.length + claims.length > 0 && providers.every(({ hasKeys }) => hasKeys)) return [words.nobody];
  if (providers.length === 0) return basicAuth.length === 0 ? [words.everyone] : [];
  const named = (
    wanted: (provider: SentenceProvider) => boolean,
    say: (providers: string) => string,
  ): string[] => {
    const found = providers.filter(wanted).map(({ name }) => name);
    return found.length === 0 ? [] : [say(list(found, words.either))];
  };
  return [
    ...named(({ enabled, hasKeys }) => enabled && !hasKeys, words.signIn),
    ...named(({ enabled, hasKeys }) => enabled && hasKeys, words.keys),
    ...named(({ enabled }) => !enabled, words.disabled),
  ];
}

function writerOf(words: AccessWords, form: SentenceForm): Writer {
  const seconds = (total: number): string => {
    if (!Number.isFinite(total)) return words.span(String(total), 'seconds');
    const units = Object.entries(SECONDS_PER);
    const [unit, size] = units.find(([, each]) => total >= each && total % each === 0) ?? ['seconds', 1];
    return words.span(form.number(total / size), unit);
  };
  return {
    words,
    form,
    seconds,
    span: (iso) => {
      const found = SPAN.exec(iso);
      if (found === null) return iso;
      const [, weeks = 0, days = 0, hours = 0, minutes = 0, rest = 0] = found;
      const { days: day, hours: hour, minutes: minute } = SECONDS_PER;
      const whole =
        (Number(weeks) * 7 + Number(days)) * day + Number(hours) * hour + Number(minutes) * minute;
      return seconds(whole + Number(rest));
    },
    list: (items, join) => {
      // One more name is as short as the number of those that are left out.
      const left = items.length > MOST_NAMED + 1 ? items.length - MOST_NAMED : 0;
      const shown = left === 0 ? items : [...items.slice(0, MOST_NAMED), words.more(form.number(left))];
      if (shown.length < 2) return shown.join('');
      return join(shown.slice(0, -1).join(', '), shown.at(-1)!);
    },
  };
}
