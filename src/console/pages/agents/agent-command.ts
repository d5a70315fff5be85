/** The commands that enroll and start an agent, for each way in which it can run. Pure. */
import { shellWord } from '../../parts/first-command.ts';

export const MACHINES = ['installed', 'clone', 'systemd', 'docker'] as const;
export type Machine = (typeof MACHINES)[number];

export interface AgentStart {
  /** Address of the Management API. */
  readonly apiUrl: string;
  readonly code: string;
  /** '' if the agent takes the name of its machine. */
  readonly name: string;
  /** Networks and ports that may be published from elsewhere: `10.0.0.0/8:80,8080`. */
  readonly allowTargets: readonly string[];
  /** The version of the product, which its image has, too. */
  readonly version: string;
}

const OWN_MACHINE: readonly string[] = ['127.0.0.1:*', '[::1]:*'];
const SERVICE = 'frontdoor-agent';
/** Where the image keeps state. */
const IMAGE_STATE = '/var/lib/frontdoor';
const CODE_VARIABLE = 'FRONTDOOR_ENROLLMENT_TOKEN';
const NETWORK =
  /^(?:\[[0-9a-f:.]+\]|[0-9.]+)(?:\/\d{1,3})?:(?:\*|\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*)$/i;

export type AllowedChoice = 'machine' | 'other' | 'none';

/** The entries of `--allow-target` for a choice of the form. */
export function allowTargetsOf(choice: AllowedChoice, networks: string): readonly string[] {
  if (choice === 'machine') return OWN_MACHINE;
  return choice === 'none' ? [] : networks.split(/[\s;]+/).filter((entry) => entry !== '');
}

/** The first entry that the agent would refuse; undefined if there is none. */
export function wrongTarget(entries: readonly string[]): string | undefined {
  return entries.find((entry) => !entry.startsWith('/') && !NETWORK.test(entry));
}

export function startCommand(machine: Machine, start: AgentStart): string {
  if (machine === 'systemd') return serviceScript(start);
  const options = optionsOf(start);
  if (machine === 'docker')
    return continued([
      codeVariable(start),
      ...dockerLines(start.version),
      ...[...options, ['--data-dir', IMAGE_STATE]].map(shellOption),
    ]);
  const program = machine === 'clone' ? 'node bin/frontdoor.js' : 'frontdoor';
  return continued([codeVariable(start), `  ${program} agent start`, ...options.map(shellOption)]);
}

/** The code is no option, because every user of a machine may read command lines. */
function codeVariable({ code }: AgentStart): string {
  return `${CODE_VARIABLE}=${shellWord(code)}`;
}

/** The network is the host's, for services on its loopback. */
function dockerLines(version: string): string[] {
  return [
    `  docker run --detach --restart unless-stopped --stop-timeout 45 --name ${SERVICE}`,
    '  --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges',
    `  --env ${CODE_VARIABLE}`,
    '  --network host',
    `  --volume ${SERVICE}:${IMAGE_STATE}`,
    `  localhost/frontdoor:${version} agent start`,
  ];
}

function shellOption([name, value]: readonly string[]): string {
  return `  ${name} ${shellWord(value!)}`;
}

function continued(lines: readonly string[]): string {
  return lines.join(' \\\n');
}

function serviceScript(start: AgentStart): string {
  const command = ['sudo frontdoor service install agent --enrollment-token-file -'];
  return `${continued([...command, ...optionsOf(start).map(shellOption)])} <<'CODE'
${start.code}
CODE`;
}

function optionsOf({ apiUrl, name, allowTargets }: AgentStart): (readonly string[])[] {
  return [
    ['--api', apiUrl],
    ...(name === '' ? [] : [['--name', name]]),
    ...allowTargets.map((entry) => ['--allow-target', entry]),
  ];
}
