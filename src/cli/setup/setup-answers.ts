/** What `frontdoor setup` asks: each value comes from an option, from the file that exists, or from a person. */
import { resolve } from 'node:path';
import { FrontdoorError } from '#base';
import { isDomainName, isZoneName } from '#domain';
import type { LoginQuestions } from '../access/login-questions.ts';
import { isEmailAddress } from '../value-parser.ts';

export interface SetupFlags {
  readonly config: string;
  readonly domain?: string;
  readonly acmeEmail?: string;
  readonly admin?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly apiName?: string;
  readonly listen?: string;
  readonly httpPort?: number;
  readonly httpsPort?: number;
  readonly dataDir?: string;
  readonly databaseFile?: string;
  readonly yes: boolean;
  readonly start: boolean;
}

/** The keys of the section `up` that the setup sets. */
export interface SetupAnswers {
  readonly dataDir: string;
  readonly listen: string;
  readonly advertise: readonly string[];
  readonly zone: string;
  readonly apiName: string;
  readonly onePort: true;
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly acmeEmail?: string | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly databaseFile?: string | undefined;
  /** The address of the first operator. */
  readonly adminEmail?: string | undefined;
}

/** The section `up` of the file that exists. */
export type FormerAnswers = Readonly<Record<string, unknown>>;

const DEFAULTS = { dataDir: '/var/lib/frontdoor', listen: '0.0.0.0', httpPort: 80, httpsPort: 443 } as const;
const MAX_PORT = 65_535;

/** `questions` is undefined where no person can answer. */
export async function setupAnswers(
  flags: SetupFlags,
  former: FormerAnswers,
  questions: LoginQuestions | undefined,
): Promise<SetupAnswers> {
  const known = { ...texts(former), ...givenTexts(flags) };
  if (questions === undefined) refuseMissing(known);
  const ask = async (name: string, message: string, usual: string, isRight: (text: string) => boolean) => {
    const suggested = known[name] ?? usual;
    const isGiven = Object.hasOwn(givenTexts(flags), name);
    if (questions === undefined || isGiven) return checked(name, suggested, isRight);
    const first = await questions.text(message, suggested);
    if (isRight(first)) return first;
    // A mistake is asked about once more.
    const second = await questions.text(`${JSON.stringify(first)} cannot be used. ${message}`, suggested);
    return checked(name, second, isRight);
  };
  const domain = (
    await ask('zone', 'Domain (shares are served as <share>.<domain>)', '', isZoneName)
  ).toLowerCase();
  const certificates = await certificatesOf(known, questions);
  return {
    zone: domain,
    advertise: advertisedOf(former) ?? [domain],
    apiName: await ask(
      'apiName',
      'Name of the console and the Management API',
      `api.${domain}`,
      isDomainName,
    ),
    ...certificates,
    onePort: true,
    listen: await ask('listen', 'Address to listen on', DEFAULTS.listen, Boolean),
    httpPort: Number(await ask('httpPort', 'Port of public HTTP', `${DEFAULTS.httpPort}`, isPort)),
    httpsPort: Number(await ask('httpsPort', 'Port of public HTTPS', `${DEFAULTS.httpsPort}`, isPort)),
    dataDir: await ask('dataDir', 'Directory for the database and keys', DEFAULTS.dataDir, Boolean),
    databaseFile: await databaseOf(known, questions),
    adminEmail: await adminEmailOf(known, former, questions),
  };
}

/** Nobody is asked again once there is an installation, because only its first start makes a link. */
async function adminEmailOf(
  known: Readonly<Record<string, string>>,
  former: FormerAnswers,
  questions: LoginQuestions | undefined,
): Promise<string | undefined> {
  const { adminEmail, acmeEmail } = known;
  const isAsked = adminEmail === undefined && questions !== undefined && Object.keys(former).length === 0;
  const text = isAsked
    ? await questions.text('Email address of the first operator (may be empty)', acmeEmail ?? '')
    : adminEmail;
  return text === undefined || text === '' ? undefined : checked('admin', text, isEmailAddress);
}

/** Agents know these names, so a further setup does not change them. */
function advertisedOf({ advertise }: FormerAnswers): readonly string[] | undefined {
  if (typeof advertise === 'string') return [advertise];
  return Array.isArray(advertise) && advertise.length > 0 ? advertise.map(String) : undefined;
}

function checked(name: string, text: string, isRight: (text: string) => boolean): string {
  if (isRight(text)) return text;
  throw new FrontdoorError('invalid', 'value', `${name}: ${JSON.stringify(text)} cannot be used`);
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_PORT;
}

async function certificatesOf(
  known: Readonly<Record<string, string>>,
  questions: LoginQuestions | undefined,
): Promise<Pick<SetupAnswers, 'acmeEmail' | 'tlsCert' | 'tlsKey'>> {
  const { tlsCert, tlsKey, acmeEmail } = known;
  if (tlsCert !== undefined && acmeEmail === undefined) return { tlsCert, tlsKey };
  const text =
    questions === undefined || acmeEmail !== undefined
      ? acmeEmail!
      : await questions.text("Email address for Let's Encrypt (you agree to its terms of service)");
  if (isEmailAddress(text)) return { acmeEmail: text, tlsCert, tlsKey };
  throw new FrontdoorError('invalid', 'value', 'the email address for certificates cannot be used');
}

async function databaseOf(
  { databaseFile }: Readonly<Record<string, string>>,
  questions: LoginQuestions | undefined,
): Promise<string | undefined> {
  if (databaseFile !== undefined || questions === undefined) return databaseFile;
  const kind = await questions.choose('Database', [
    { value: 'embedded', label: 'embedded, in the data directory' },
    { value: 'postgres', label: 'PostgreSQL, by a file with its URL' },
  ]);
  if (kind === 'embedded') return undefined;
  return resolve(await questions.text('File with the URL of the database', '/etc/frontdoor/database.url'));
}

function refuseMissing(known: Readonly<Record<string, string>>): void {
  const missing = [
    ...(known['zone'] === undefined ? ['--domain'] : []),
    ...(known['acmeEmail'] === undefined && known['tlsCert'] === undefined
      ? ['--acme-email, or --tls-cert and --tls-key']
      : []),
  ];
  if (missing.length === 0) return;
  const message = `nobody can be asked here: give ${missing.join(', and ')}`;
  throw new FrontdoorError('invalid', 'option-missing', message);
}

function texts(values: FormerAnswers): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(values))
    if (typeof value === 'string' || typeof value === 'number') found[name] = String(value);
  return found;
}

function givenTexts({
  domain,
  tlsCert,
  tlsKey,
  databaseFile,
  dataDir,
  ...flags
}: SetupFlags): Record<string, string> {
  const { acmeEmail, admin, apiName, listen, httpPort, httpsPort } = flags;
  const paths = { tlsCert, tlsKey, databaseFile, dataDir };
  const placed = Object.entries(paths).map(([name, path]) => [
    name,
    path === undefined ? undefined : resolve(path),
  ]);
  const given = {
    zone: domain,
    acmeEmail,
    adminEmail: admin,
    apiName,
    listen,
    httpPort,
    httpsPort,
    ...Object.fromEntries(placed),
  };
  return texts(given);
}
