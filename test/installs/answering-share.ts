/** What the ways to install have in common: the first account, a service, and a share of it that answers. */
import { until } from '../support/deadline.ts';
import type { DebianMachine } from './debian-machine.ts';

const ANSWER = 'hello from the service';
const SERVICE = `require('node:http').createServer((q, r) => r.end('${ANSWER}')).listen(3000, '127.0.0.1')`;
export const API = 'http://127.0.0.1:8081';

/** The words of `frontdoor` as the first account of the control plane with this data directory. */
export function firstAccount(machine: DebianMachine, dataDir: string): string {
  return `FRONTDOOR_API_URL=${API} FRONTDOOR_CREDENTIALS_FILE=${dataDir}/first-secrets.json`;
}

/** Writes an enrollment code to a file that only root can read. */
export function writeCode(machine: DebianMachine, frontdoor: string, dataDir: string, file: string): void {
  machine.shell(`umask 077
    ${firstAccount(machine, dataDir)} ${frontdoor} agents enroll --json > /root/code.json
    sed -n 's/.*"enrollmentCode": "\\([^"]*\\)".*/\\1/p' /root/code.json > ${file}
    test -s ${file}`);
}

/** `node` is the program of Node.js in the installation. */
export function startService(machine: DebianMachine, node: string): void {
  machine.run('systemd-run', '--quiet', '--unit=sample', node, '-e', SERVICE);
}

/** Publishes the service through the agent with this data directory, and waits for its answer at `port`. */
export async function publish(
  machine: DebianMachine,
  { agent, node, port, dataDir }: Record<'agent' | 'node' | 'dataDir', string> & { readonly port: number },
): Promise<void> {
  const share = ['share', 'public', 'http://127.0.0.1:3000', '--name', 'app', '--data-dir', dataDir];
  machine.shell([agent, ...share].join(' '));
  await untilAnswer(machine, node, port);
}

export async function untilAnswer(machine: DebianMachine, node: string, port: number): Promise<void> {
  const options = `{port:${port},headers:{host:'app.share.localhost'}}`;
  const script = `require('node:http').get(${options}, (a) => a.pipe(process.stdout)).on('error', (e) => console.log(e.message))`;
  await until(
    'an answer of the share',
    () => machine.try(node, '-e', script).output,
    (text) => text.includes(ANSWER),
  );
}
