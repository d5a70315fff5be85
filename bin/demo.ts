/**
 * `up --demo`: a sample service on loopback, an agent that enrolls with a real code and publishes it, and a few
 * lines that show a newcomer what is running. Everything goes through the product's own front doors.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AGENT_IDENTITY_FILE } from '#agent';
import { callAgent, type LogOptions } from '#cli';
import { FrontdoorError, messageOf, type Log } from '#base';
import type { ControlPlane, FirstStart } from '#control';
import { AGENT_SOCKET_FILE, demoCredentialsShape, type AgentShareResult } from '#domain/agent-shapes';
import { loadIdentityFile, saveIdentityFile, setAside, writeFileDurably } from '#net/files';
import { JsonClient } from '#net/http';
import { boundLogs } from './bounded-logs.ts';
import { buildFacts } from './build-facts.ts';
import { AgentSupervisor, startSampleProcess, type SampleProcess } from './demo-processes.ts';
import { PACKAGE_ROOT } from './program-bundle.ts';
import type { DemoReady } from './ready-file.ts';
import type { Up } from './up.ts';

export interface DemoOptions {
  readonly control: ControlPlane;
  readonly dataDir: string;
  readonly version: string;
  readonly logFormat: LogOptions['logFormat'];
  readonly log: Log;
  /** Prints one line about the progress. */
  print(line: string): void;
}

const CREDENTIALS_FILE = 'demo-credentials.json';
const SHARE_NAME = 'hello';
const AGENT_READY_MS = 30_000;
const SHARE_READY_MS = 30_000;
const RETRY_MS = 25;
const ANSWER_MS = 5_000;

export class Demo {
  readonly #options: DemoOptions;
  readonly #credentials: FirstStart;
  readonly #logDir: string;
  readonly #stopBounds: () => void;
  readonly #agentDir: string;
  readonly #sample: Promise<SampleProcess>;
  readonly #agent: Promise<AgentSupervisor>;

  /** Starts both processes, which load while the router and the gateway of `up` start. Throws if it has no credentials. */
  constructor(options: DemoOptions) {
    const { dataDir, print, log } = options;
    this.#options = options;
    this.#credentials = loadDemoCredentials(dataDir);
    this.#logDir = join(dataDir, 'logs');
    this.#stopBounds = boundLogs({ folder: this.#logDir, log });
    this.#agentDir = join(dataDir, 'agent');
    print('starting a sample service and an agent');
    this.#sample = startSampleProcess(this.#logDir);
    this.#agent = this.#startAgent();
    // `publish` reports them.
    this.#sample.catch(() => {});
    this.#agent.catch(() => {});
  }

  /** Resolves when the sample answers through the frontdoor. Rejects with the reason why it does not. */
  async publish(up: Up): Promise<DemoReady> {
    const { dataDir, print } = this.#options;
    const sample = await this.#sample;
    const supervisor = await this.#agent;
    const agentSocket = join(this.#agentDir, AGENT_SOCKET_FILE);
    print('publishing the sample service');
    const share = await publish(agentSocket, sample, this.#logDir);
    const environmentId = await environmentOf(agentSocket);
    const ready = describeReady(up, dataDir, this.#credentials, share, {
      environmentId,
      agentSocket,
      pids: { up: process.pid, agent: supervisor.pid, sample: sample.pid },
    });
    await answersThroughGateway(ready);
    return ready;
  }

  /** Ends both processes, also while they start. */
  async close(drainMs: number): Promise<void> {
    this.#stopBounds();
    for (const starting of [this.#agent, this.#sample]) {
      const started = await starting.catch(() => undefined);
      await started?.close(drainMs);
    }
  }

  async #startAgent(): Promise<AgentSupervisor> {
    const { control, log, logFormat, version } = this.#options;
    await setDamagedAside(this.#agentDir, log);
    if (hasIdentity(this.#agentDir)) await followEdgeApi(this.#agentDir, control.edgeApiUrl);
    // Its name belongs to the environment that the agent had, which cannot be used any longer.
    else await deleteShare(control.apiUrl, this.#credentials, SHARE_NAME);
    return AgentSupervisor.start({
      dataDir: this.#agentDir,
      apiUrl: control.apiUrl,
      logDir: this.#logDir,
      version,
      logFormat,
      log,
      enrollmentCode: () =>
        hasIdentity(this.#agentDir)
          ? Promise.resolve(undefined)
          : newEnrollmentCode(control.apiUrl, this.#credentials),
    });
  }
}

/** Only the demo keeps secrets in clear: a newcomer's second start prints working lines too. */
export function keepDemoCredentials(dataDir: string, first: FirstStart): Promise<void> {
  const kept = demoCredentialsShape.numbered(first);
  return writeFileDurably(join(dataDir, CREDENTIALS_FILE), `${JSON.stringify(kept, null, 2)}\n`, 0o600);
}

/** Throws `invalid` with the path and the remedy. */
export function loadDemoCredentials(dataDir: string): FirstStart {
  const path = join(dataDir, CREDENTIALS_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const message = `${path} is missing: this data directory was first started without --demo; choose another with --data-dir`;
    throw new FrontdoorError('invalid', 'demo-credentials', message, { cause });
  }
  const read = demoCredentialsShape.readText(text);
  if ('value' in read) return read.value;
  const remedy = 'restore it, or choose another data directory with --data-dir';
  throw new FrontdoorError('invalid', 'demo-credentials', `${path} is damaged: ${read.problem}; ${remedy}`);
}

function hasIdentity(agentDir: string): boolean {
  return existsSync(join(agentDir, AGENT_IDENTITY_FILE));
}

/** The demo made the identity itself, and makes another one. */
async function setDamagedAside(agentDir: string, log: Log): Promise<void> {
  const path = join(agentDir, AGENT_IDENTITY_FILE);
  try {
    if (existsSync(path)) await loadIdentityFile(path);
  } catch (error) {
    if (!(error instanceof FrontdoorError) || error.code !== 'identity-file-damaged') throw error;
    log.warn(
      { cause: error.message, movedTo: await setAside(path) },
      'the identity of the demo agent cannot be used: it enrolls again, as another environment; shares that you added to the former one have to be shared again',
    );
  }
}

/** With --any-port the edge API may have moved since the agent enrolled. */
async function followEdgeApi(agentDir: string, edgeApiUrl: string): Promise<void> {
  const path = join(agentDir, AGENT_IDENTITY_FILE);
  const identity = await loadIdentityFile(path);
  if (identity.apiUrl !== edgeApiUrl) await saveIdentityFile(path, { ...identity, apiUrl: edgeApiUrl });
}

async function newEnrollmentCode(apiUrl: string, credentials: FirstStart): Promise<string> {
  const answer = await callApi(apiUrl, credentials, 'POST', '/agents/enrollments');
  const { enrollmentCode, message } = (answer.json ?? {}) as { enrollmentCode?: string; message?: string };
  if (enrollmentCode !== undefined) return enrollmentCode;
  throw new FrontdoorError('internal', 'demo-enrollment', `no enrollment code: ${message ?? answer.status}`);
}

/** There is none at a first start. What else the answer may be shows when the share is published. */
async function deleteShare(apiUrl: string, credentials: FirstStart, token: string): Promise<void> {
  await callApi(apiUrl, credentials, 'DELETE', `/shares/${token}`);
}

/** A path of the demo's frontdoor. */
async function callApi(apiUrl: string, credentials: FirstStart, method: 'POST' | 'DELETE', path: string) {
  const { origin, pathname } = new URL(apiUrl);
  const client = new JsonClient({ origin });
  try {
    return await client.request({
      method,
      path: `${pathname.replace(/\/$/, '')}/frontdoor/${credentials.frontdoorId}${path}`,
      headers: { authorization: `Basic ${credentials.accountId}:${credentials.apiToken}` },
    });
  } finally {
    await client.close();
  }
}

/** Waits until the agent answers its socket and the share can be dialed. */
async function publish(socketPath: string, sample: SampleProcess, logDir: string): Promise<AgentShareResult> {
  const deadlineMs = performance.now() + AGENT_READY_MS + SHARE_READY_MS;
  let last = 'the agent did not start';
  while (performance.now() < deadlineMs) {
    try {
      const target = `http://127.0.0.1:${sample.port}`;
      const result = await callAgent(socketPath, {
        op: 'share',
        mode: 'public',
        target,
        name: SHARE_NAME,
        grants: [],
      });
      if (result.readiness.ready) return result;
      last = result.readiness.reason;
    } catch (error) {
      last = messageOf(error);
    }
    await delay(RETRY_MS);
  }
  throw new FrontdoorError(
    'timeout',
    'demo-share',
    `the sample is not published: ${last}; see ${logDir}/agent.log`,
  );
}

async function environmentOf(socketPath: string): Promise<string> {
  return (await callAgent(socketPath, { op: 'status' }, ANSWER_MS)).environmentId;
}

function describeReady(
  up: Up,
  dataDir: string,
  credentials: FirstStart,
  { share }: AgentShareResult,
  parts: Pick<DemoReady, 'environmentId' | 'agentSocket' | 'pids'>,
): DemoReady {
  const shareUrl = share.endpoints[0] ?? '';
  const { apiUrl, baseUrl, edgeApiUrl, consoleUrl, consoleLink } = up.control;
  return {
    shareUrl,
    gatewayUrl: `http://127.0.0.1:${up.httpPort}`,
    shareHost: new URL(shareUrl).hostname,
    apiUrl,
    tokenUrl: `${apiUrl}/oauth/token`,
    audience: `${baseUrl}/frontdoor`,
    edgeApiUrl,
    consoleUrl,
    consoleLink,
    dataDir,
    organizationId: credentials.organizationId,
    frontdoorId: credentials.frontdoorId,
    environmentId: parts.environmentId,
    accountId: credentials.accountId,
    apiToken: credentials.apiToken,
    clientId: credentials.clientId,
    clientSecret: credentials.clientSecret,
    agentSocket: parts.agentSocket,
    pids: parts.pids,
  };
}

/** Proves that the sample answers, before the demo claims that it works. */
async function answersThroughGateway({ gatewayUrl, shareHost }: DemoReady): Promise<void> {
  const client = new JsonClient({ origin: gatewayUrl });
  try {
    const deadlineMs = performance.now() + SHARE_READY_MS;
    for (;;) {
      const { status } = await client.request({ method: 'HEAD', path: '/', headers: { host: shareHost } });
      if (status === 200) return;
      if (performance.now() > deadlineMs) {
        throw new FrontdoorError('timeout', 'demo-gateway', `the gateway answers ${status} for ${shareHost}`);
      }
      await delay(RETRY_MS);
    }
  } finally {
    await client.close();
  }
}

/** The text on a newcomer's screen. */
export function demoBanner(ready: DemoReady, httpsPort: number): string {
  // The command line finds the socket there by itself.
  const isDefault = ready.agentSocket === resolve('frontdoor-data', 'agent', AGENT_SOCKET_FILE);
  const socket = isDefault ? '' : ` --socket ${ready.agentSocket}`;
  const demo = isDefault ? '' : ` ${ready.dataDir}`;
  const isPackage = buildFacts().programs === 'package';
  const program = isPackage ? 'frontdoor' : 'npx frontdoor';
  // Elsewhere npx would fetch another project's package of that name.
  const place = isPackage ? '' : `, in ${PACKAGE_ROOT}`;
  const basic = `-H 'Authorization: Basic ${ready.accountId}:${ready.apiToken}'`;
  return `
  Frontdoor is up. A private service is published:

    ${ready.shareUrl}${ownSecureAddress(ready, httpsPort)}

  Try it:

    curl -H 'Host: ${ready.shareHost}' ${ready.gatewayUrl}/

  Management API at ${ready.apiUrl} (${ready.apiUrl}/docs describes it):

    curl ${basic} ${ready.apiUrl}/frontdoor/${ready.frontdoorId}
    curl ${basic} ${ready.apiUrl}/frontdoor/${ready.frontdoorId}/shares
${consoleText(ready, `${program} login --demo${demo} && ${program} console link`)}
  In another terminal${place}: sign in, list the shares, publish your own service (here on port 3000):

    ${program} login --demo${demo}
    ${program} shares list
    ${program} agent share public http://127.0.0.1:3000 --name app${socket}

  Credentials are kept in ${join(ready.dataDir, CREDENTIALS_FILE)}, logs in ${join(ready.dataDir, 'logs')}.
  Ctrl-C stops everything; the next start finds it again.
`;
}

/** Browsers refuse the certificate of the installation's own authority. */
function ownSecureAddress({ shareUrl, shareHost }: DemoReady, httpsPort: number): string {
  if (shareUrl.startsWith('https:')) return '';
  return `\n    https://${shareHost}:${httpsPort}   (certificate of its own authority: curl -k)`;
}

function consoleText({ consoleUrl, consoleLink }: DemoReady, newLink: string): string {
  if (consoleUrl === undefined) return '';
  return `
  Console, for people (the first one becomes its operator, with the link, within an hour):

    ${consoleLink ?? `${consoleUrl}   (${newLink})`}
`;
}
