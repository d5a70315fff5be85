/** The files of an agent's service: their places and texts. The unit is the one of the Debian package. ADR 0101. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { definedFields, FrontdoorError } from '#base';
import type { ServiceInstallOptions } from '#cli';
import { PACKAGE_ROOT } from './program-bundle.ts';

const PROGRAM = 'frontdoor-agent';
/** What the unit of the package starts. */
const PACKAGED_PROGRAM = '/usr/bin/frontdoor-agent';
/** Services cannot read there, and a user's files may go. */
const PRIVATE_FOLDERS = /^\/(?:home|root|Users|tmp|var\/tmp)\//;
/** Characters that systemd takes for themselves in a command. */
const PLAIN_WORD = /^[\w@+=:,./-]+$/;
const UNIT = 'deploy/systemd/frontdoor-agent@.service';
const PLIST = 'deploy/launchd/frontdoor-agent.plist';
export const SYSUSERS = 'deploy/systemd/frontdoor.sysusers';
export const AGENT_USER = 'frontdoor-agent';

/** Reads a file that the installation carries. */
export function shippedText(path: string): string {
  return readFileSync(join(PACKAGE_ROOT, path), 'utf8');
}

export function unitText(program: string): string {
  return shippedText(UNIT).replaceAll(PACKAGED_PROGRAM, program);
}

/** The configuration file of a new service, which `agent start --config` reads. */
export function configurationText({ api, name, ca, allowTarget }: ServiceInstallOptions): string {
  const targets = allowTarget.length === 0 ? undefined : allowTarget;
  const agent = definedFields({ api, name, ca: ca && resolve(ca), allowTarget: targets });
  const head =
    '# Written by "frontdoor service install". Shares of this agent can be added below "shares".\n';
  return head + stringify({ agent });
}

/** The program that a service starts: the one of this installation, at a path that upgrades keep. */
export function serviceProgram(given: string | undefined, path: string, root = PACKAGE_ROOT): string {
  const program = given === undefined ? foundProgram(path, root) : resolve(given);
  if (program === undefined)
    throw new FrontdoorError(
      'notFound',
      'service-program',
      `${PROGRAM} of this installation is not in PATH: install it as root with install.sh, or give --program`,
    );
  if (!existsSync(program))
    throw new FrontdoorError('notFound', 'service-program', `${program} does not exist`);
  for (const place of [program, realpathSync(program)])
    if (PRIVATE_FOLDERS.test(place)) {
      const message = `${place} is in a folder that services cannot use: install Frontdoor below /usr/local or /opt`;
      throw new FrontdoorError('invalid', 'service-program-place', message);
    }
  if (PLAIN_WORD.test(program)) return program;
  const message = `${program}: the path of a service has letters, digits and _ @ + = : , . / - only`;
  throw new FrontdoorError('invalid', 'service-program-place', message);
}

function foundProgram(path: string, root: string): string | undefined {
  const top = installationTop(root);
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, PROGRAM))
    .find((file) => existsSync(file) && realpathSync(file).startsWith(top));
}

/** An archive has its commands beside the folder `lib`; a package of npm in its own folder. */
function installationTop(root: string): string {
  const library = root.replace(/\/dist\/programs$/, '');
  const above = dirname(library);
  return `${basename(above) === 'lib' ? dirname(above) : library}/`;
}

export interface PlistOptions {
  readonly label: string;
  readonly words: readonly string[];
  readonly user: string;
  readonly log: string;
}

export function plistText({ label, words, user, log }: PlistOptions): string {
  const strings = words.map((word) => `    <string>${xml(word)}</string>`);
  const values: Readonly<Record<string, string>> = {
    '@LABEL@': xml(label),
    '@ARGUMENTS@': strings.join('\n'),
    '@USER@': xml(user),
    '@LOG@': xml(log),
  };
  return shippedText(PLIST).replaceAll(/@[A-Z]+@/g, (name) => values[name] ?? name);
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The service manager has no service of this name. */
export function missingService(name: string): FrontdoorError {
  return new FrontdoorError('notFound', 'service-missing', `there is no service ${name}`);
}
