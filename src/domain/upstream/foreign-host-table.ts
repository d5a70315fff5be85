/**
 * What known applications answer when they do not accept the host of a request, or the proxy that it came through: the
 * first bytes of their response, and the remedy for the owner of the share. Texts are those of the applications.
 */

interface ForeignHostRow {
  readonly application: string;
  readonly status: 400 | 403;
  /** Matched against the first `FOREIGN_HOST_BYTES` of the body. */
  readonly pattern: RegExp;
  readonly remedy: string;
}

/** The part of a body that is examined. */
export const FOREIGN_HOST_BYTES = 2_048;

const byHeader = (name: string) =>
  `set its Host header: "frontdoor shares upstream change TOKEN --host-header ${name}"`;
const LOCALHOST = byHeader('localhost');

const ROWS: readonly ForeignHostRow[] = [
  {
    application: 'Vite',
    status: 403,
    pattern: /^Blocked request\. This host \(.{0,300}\) is not allowed/s,
    remedy: LOCALHOST,
  },
  { application: 'webpack-dev-server', status: 403, pattern: /^Invalid Host header/, remedy: LOCALHOST },
  {
    application: 'Jupyter',
    status: 403,
    pattern: /<title>\s*Jupyter (?:Server|Notebook)/,
    remedy: LOCALHOST,
  },
  { application: 'Syncthing', status: 403, pattern: /^Host check error/, remedy: LOCALHOST },
  {
    application: 'Rails',
    status: 403,
    // Its page says `Blocked host` after 4,700 bytes of styles. Of other failures it has another status.
    pattern: /^Blocked hosts?: |<title>Action Controller: Exception caught<\/title>/,
    // It compares X-Forwarded-Host, too, so that another Host header does not help.
    remedy: 'add the host of the share to config.hosts in its config/environments/development.rb',
  },
  {
    application: 'Django',
    status: 400,
    pattern: /<title>\s*DisallowedHost|<title>Bad Request<\/title>[^]{0,200}<h1>Bad Request \(400\)<\/h1>/,
    remedy: `${byHeader('NAME')} with a name of its ALLOWED_HOSTS, or add the host of the share there`,
  },
  {
    application: 'Home Assistant',
    status: 400,
    pattern: /^400: Bad Request\s*$/,
    remedy: 'set use_x_forwarded_for in its configuration, and the address of the agent in trusted_proxies',
  },
  {
    application: 'Nextcloud',
    status: 400,
    pattern: /untrusted domain/i,
    remedy: 'add the host of the share to its trusted_domains',
  },
];

/** Whether responses of this status are looked at. */
export function mayRefuseHost(status: number): boolean {
  return status === 400 || status === 403;
}

/** Returns which application probably refused the host, with the remedy, or undefined. `begin` is Latin-1. */
export function foreignHostCause(status: number, begin: string): string | undefined {
  const row = ROWS.find((each) => each.status === status && each.pattern.test(begin));
  return (
    row &&
    `the service, which looks like ${row.application}, does not accept the host of the request: ${row.remedy}`
  );
}
