/**
 * `frontdoor agent …`: starts the agent through the caller's callback, or sends requests to the running one over
 * its control socket. Prints text for people, or JSON with --json.
 */
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { definedFields, ERROR_KINDS, Secret, type HostPort } from '#base';
import { AGENT_SOCKET_FILE, type AgentShareView } from '#domain/agent-shapes';
import { addLogOptions, type LogOptions } from './log-options.ts';
import { callAgent } from './agent-socket-client.ts';
import { runCommand, writeJson, type CliIo } from './cli-io.ts';
import { addConfigOption, configured } from './config-file/config-option.ts';
import { CONFIG_SECTIONS } from './config-file/config-section-table.ts';
import { parseListenAddress } from './listen-address.ts';
import { agentStatusText, domainLines, openAddress } from './output/agent-status-text.ts';
import { targetArgument, targetOf, targetOptions } from './target-argument.ts';
import { addReachOptions, type ReachFlags } from './reach-options.ts';
import { targetCertificateCommand } from './target-certificate-command.ts';
import { addUpstreamOptions, upstreamOf, type UpstreamFlags } from './upstream-options.ts';
import { addMetricsOption, type MetricsCommandOptions } from './observation-options.ts';
import { proxyOption, type ProxyFlags } from './proxy-option.ts';
import { repeatedText, secretText, wholeNumber } from './value-parser.ts';

export interface AgentStartOptions extends MetricsCommandOptions, LogOptions, ProxyFlags {
  readonly dataDir: string;
  /** Path of the control socket. */
  readonly socket: string;
  /** Address of the Management API, for enrolling. */
  readonly api: string;
  readonly enrollmentToken?: Secret | undefined;
  /** Used instead of the token. */
  readonly enrollmentTokenFile?: string | undefined;
  readonly name?: string | undefined;
  /** File of CA certificates (PEM) for the Management API. */
  readonly ca?: string | undefined;
  /** File of CA certificates (PEM) for https targets. */
  readonly targetCa?: string | undefined;
  /** Files of a certificate and its key (PEM), for https targets that ask for one. */
  readonly targetClientCertificate?: readonly string[] | undefined;
  readonly targetClientKey?: readonly string[] | undefined;
  readonly allowTarget: readonly string[];
  readonly config?: string | undefined;
  readonly maxCircuits?: number | undefined;
}

export interface AgentCommandOptions {
  readonly io: CliIo;
  /** State directory of the agent unless --data-dir or FRONTDOOR_AGENT_DIR is set. */
  readonly defaultDataDir: string;
  /** Management API address unless --api or FRONTDOOR_API_URL is set. */
  readonly defaultApiUrl: string;
  /** Runs the agent until it ends. An error that it throws becomes the command's failure. */
  readonly start: (options: AgentStartOptions) => Promise<void>;
}

interface Where {
  readonly dataDir?: string;
  readonly socket?: string;
  readonly json?: boolean;
}

interface StartFlags extends Where, MetricsCommandOptions, LogOptions, ProxyFlags {
  readonly api?: string;
  readonly enrollmentToken?: Secret;
  readonly enrollmentTokenFile?: string;
  readonly name?: string;
  readonly ca?: string;
  readonly targetCa?: string;
  readonly targetClientCertificate?: readonly string[];
  readonly targetClientKey?: readonly string[];
  readonly allowTarget: readonly string[];
  readonly config?: string;
  readonly maxCircuits?: number;
}

const MAX_CIRCUITS = 999_999;

export function agentCommand(options: AgentCommandOptions): Command {
  const agent = new Command('agent').description(
    'publish private services from this machine, and use private shares of other machines',
  );
  agent.addCommand(startCommand(options));
  const share = new Command('share').description('publish a service through the running agent');
  share.addCommand(shareCommand(options, 'public'));
  share.addCommand(shareCommand(options, 'private'));
  agent.addCommand(share);
  const access = new Command('access').description('use private shares of other machines on this machine');
  access.addCommand(openAccessCommand(options));
  access.addCommand(endAccessCommand(options));
  agent.addCommand(access);
  agent.addCommand(statusCommand(options));
  agent.addCommand(targetCertificateCommand(options.io));
  agent.addCommand(releaseCommand(options));
  agent.addCommand(stopCommand(options));
  agent.addCommand(versionCommand(options));
  return agent;
}

function startCommand({ io, start, ...defaults }: AgentCommandOptions): Command {
  const command = new Command('start')
    .description('run the agent in the foreground; it enrolls first if it has no identity')
    .option(
      '--enrollment-token <code>',
      'one-time code from "frontdoor agents enroll"; better by FRONTDOOR_ENROLLMENT_TOKEN or a file, because other users may read command lines; for example CODE, as printed there',
      secretText,
    )
    .addOption(
      new Option(
        '--enrollment-token-file <file>',
        'file with the code, or - for standard input; for example /run/secrets/enrollment-code',
      ).conflicts('enrollmentToken'),
    )
    .option(
      '--api <url>',
      `address of the Management API (or FRONTDOOR_API_URL), default: ${defaults.defaultApiUrl}`,
    )
    .option(
      '--name <name>',
      'name of the environment, for example laptop; default: the host name and a hash of the data directory',
    )
    .option(
      '--ca <file>',
      "CA certificates (PEM) to verify the Management API with, instead of the system's; for example ca.pem",
    )
    .option(
      '--allow-target <cidr:ports>',
      'target that the Management API is allowed to set, or the path of a folder; may be repeated; for example 10.0.0.0/8:80,8080 or /srv/www',
      repeatedText,
      [],
    )
    .option(
      '--max-circuits <n>',
      'maximum number of circuits per share, default: 16384',
      wholeNumber(1, MAX_CIRCUITS),
    )
    .option('--data-dir <dir>', dataDirHelp(defaults.defaultDataDir))
    .option('--socket <path>', 'control socket, default: agent.sock in the data directory');
  addTargetTlsOptions(command);
  command.addOption(proxyOption());
  addConfigOption(command, 'the options of the agent, and its shares and accesses');
  const run = async (flags: StartFlags): Promise<void> => {
    const { dataDir, socketPath } = placesOf(flags, io, defaults.defaultDataDir);
    // The file option has precedence over the environment variable.
    const { FRONTDOOR_ENROLLMENT_TOKEN: given } = io.env;
    const enrollmentToken =
      flags.enrollmentToken ??
      (flags.enrollmentTokenFile === undefined && given !== undefined ? new Secret(given) : undefined);
    const { enrollmentTokenFile, name, ca, targetCa, config, maxCircuits, allowTarget, logLevel } = flags;
    const { metricsListen, logFormat, proxy, targetClientCertificate, targetClientKey } = flags;
    const options = {
      dataDir,
      socket: socketPath,
      api: flags.api ?? io.env.FRONTDOOR_API_URL ?? defaults.defaultApiUrl,
      allowTarget,
      logLevel,
      logFormat,
      enrollmentToken,
      enrollmentTokenFile,
      name,
      metricsListen,
      proxy,
      ca,
      targetCa,
      targetClientCertificate,
      targetClientKey,
      config,
      maxCircuits,
    };
    await runCommand(io, false, () => start(options));
  };
  return addLogOptions(addMetricsOption(command, 'the agent')).action(
    configured(io, CONFIG_SECTIONS.agent, run),
  );
}

function shareCommand(options: AgentCommandOptions, mode: 'public' | 'private'): Command {
  const { io } = options;
  const command = new Command(mode)
    .description(
      mode === 'public'
        ? 'share publicly: HTTP at https?://NAME.<zone>, TCP and UDP at a port of the gateways'
        : 'share with granted environments, which dial it with "agent access open" or an OpenZiti SDK',
    )
    .argument('<target>', targetArgument())
    .option(
      '--name <name>',
      'name that the share keeps until it is released, for example app; default: a random token',
    );
  addReachOptions(command, mode);
  addUpstreamOptions(command, mode);
  for (const { name, text } of targetOptions()) command.option(`--${name}`, text);
  return askingOptions(command, options).action(
    async (target: string, flags: Where & UpstreamFlags & ReachFlags & { readonly name?: string }) => {
      await runCommand(io, flags.json === true, async () => {
        const request = definedFields({
          op: 'share',
          mode,
          target: targetOf(target, command.opts()),
          grants: flags.grant ?? [],
          name: flags.name,
          upstream: await upstreamOf(flags),
          // A control plane of an earlier version knows none.
          domains: flags.domain?.length === 0 ? undefined : flags.domain,
          ingress: flags.ingress,
          ingressPort: flags.port,
        });
        const { share, readiness } = await callAgent(socketOf(flags, options), request);
        if (flags.json === true)
          writeJson(io, {
            ...share,
            ready: readiness.ready,
            reason: readiness.ready ? null : readiness.reason,
          });
        else if (readiness.ready) io.out(`${readyText(share)}\n`);
        else {
          io.err(
            `frontdoor: share ${share.token} was created, but cannot be dialed: ${readiness.reason}\n` +
              `It becomes available as soon as that changes; "frontdoor agent release ${share.token}" removes it.\n`,
          );
        }
        if (!readiness.ready) io.exitCode = ERROR_KINDS.unavailable.exitCode;
      });
    },
  );
}

function readyText(share: AgentShareView): string {
  const to = share.endpoints.length === 0 ? `private share ${share.token}` : share.endpoints.join('\n');
  return [to, `  -> ${share.target}`, ...domainLines(share)].join('\n');
}

function statusCommand(options: AgentCommandOptions): Command {
  const { io } = options;
  const command = new Command('status').description('show the shares of the running agent and their state');
  return askingOptions(command, options).action(async (flags: Where) => {
    await runCommand(io, flags.json === true, async () => {
      const status = await callAgent(socketOf(flags, options), { op: 'status' });
      if (flags.json === true) writeJson(io, status);
      else io.out(agentStatusText(status));
    });
  });
}

function openAccessCommand(options: AgentCommandOptions): Command {
  const { io } = options;
  const command = new Command('open')
    .description('make a private share accessible at an address of this machine, also after restarts')
    .argument('<share>', 'name or token of a private share that is granted to this environment')
    .addOption(
      new Option(
        '--listen <host:port>',
        'address of this machine; everyone who can connect to it uses the share; port 0: a free port, kept from then on',
      )
        .argParser(parseListenAddress)
        .default({ host: '127.0.0.1', port: 0 }, '127.0.0.1:0'),
    )
    .option('--udp', 'take datagrams, for a share with a udp target; each sender has a circuit of its own');
  return askingOptions(command, options).action(
    async (share: string, flags: Where & { readonly listen: HostPort; readonly udp?: boolean }) => {
      await runCommand(io, flags.json === true, async () => {
        const { host, port } = flags.listen;
        const protocol = flags.udp === true ? 'udp' : 'tcp';
        const request = { op: 'access', share, host, port, protocol } as const;
        const view = await callAgent(socketOf(flags, options), request);
        if (flags.json === true) writeJson(io, view);
        else if (view.problem === null) io.out(`${openAddress(view)}\n  -> private share ${view.share}\n`);
        else
          io.err(
            `frontdoor: ${openAddress(view)} is open, but ${view.share} cannot be reached: ${view.problem}\n` +
              `It works as soon as that changes; "frontdoor agent access end ${view.share}" closes it.\n`,
          );
        if (view.problem !== null) io.exitCode = ERROR_KINDS.unavailable.exitCode;
      });
    },
  );
}

function endAccessCommand(options: AgentCommandOptions): Command {
  const { io } = options;
  const command = new Command('end')
    .description('close the address of a private share, and its connections')
    .argument('<share>', 'name or token of the share, as "frontdoor agent status" shows it');
  return askingOptions(command, options).action(async (share: string, flags: Where) => {
    await runCommand(io, flags.json === true, async () => {
      const view = await callAgent(socketOf(flags, options), { op: 'endAccess', share });
      if (flags.json === true) writeJson(io, view);
      else io.out(`closed ${openAddress(view)}\n`);
    });
  });
}

function releaseCommand(options: AgentCommandOptions): Command {
  const { io } = options;
  const command = new Command('release')
    .description('release a share permanently: its name becomes free')
    .argument('<name>', 'name or token of the share');
  return askingOptions(command, options).action(async (name: string, flags: Where) => {
    await runCommand(io, flags.json === true, async () => {
      const released = await callAgent(socketOf(flags, options), { op: 'release', name });
      if (flags.json === true) writeJson(io, released);
      else io.out(`released ${released.token}\n`);
    });
  });
}

function stopCommand(options: AgentCommandOptions): Command {
  const { io } = options;
  const command = new Command('stop').description(
    'stop the running agent; its shares remain until they are released',
  );
  return askingOptions(command, options).action(async (flags: Where) => {
    await runCommand(io, flags.json === true, async () => {
      const stopping = await callAgent(socketOf(flags, options), { op: 'stop' });
      if (flags.json === true) writeJson(io, stopping);
      else io.out('the agent is finishing open circuits and stops within 30 s\n');
    });
  });
}

function versionCommand(options: AgentCommandOptions): Command {
  const { io } = options;
  const command = new Command('version').description('show the version of the running agent');
  return askingOptions(command, options).action(async (flags: Where) => {
    await runCommand(io, flags.json === true, async () => {
      const version = await callAgent(socketOf(flags, options), { op: 'version' });
      if (flags.json === true) writeJson(io, version);
      else io.out(`${version.version}\n`);
    });
  });
}

function askingOptions(command: Command, options: AgentCommandOptions): Command {
  return command
    .option('--data-dir <dir>', dataDirHelp(options.defaultDataDir))
    .option('--socket <path>', 'control socket of the agent, default: agent.sock in its data directory')
    .option('--json', 'print JSON');
}

function socketOf(flags: Where, options: AgentCommandOptions): string {
  return placesOf(flags, options.io, options.defaultDataDir).socketPath;
}

function placesOf(flags: Where, io: CliIo, defaultDataDir: string): { dataDir: string; socketPath: string } {
  const dataDir = resolve(flags.dataDir ?? io.env.FRONTDOOR_AGENT_DIR ?? defaultDataDir);
  return { dataDir, socketPath: resolve(flags.socket ?? join(dataDir, AGENT_SOCKET_FILE)) };
}

function dataDirHelp(defaultDataDir: string): string {
  return `directory of the agent (or FRONTDOOR_AGENT_DIR), default: ${defaultDataDir}`;
}

/** What concerns TLS to the services. */
function addTargetTlsOptions(command: Command): void {
  command
    .option(
      '--target-ca <file>',
      "CA certificates (PEM) to verify https targets with, instead of the system's; for example ca.pem",
    )
    .option(
      '--target-client-certificate <[name=]file>',
      'certificate (PEM) that https targets shared on this machine get if they ask for one; with a name, only those of shares with --target-client NAME; may be repeated; for example client.pem or plc=plc.pem',
      repeatedText,
    )
    .option(
      '--target-client-key <[name=]file>',
      'its private key (PEM), which stays on this machine; may be repeated; for example client.key or plc=plc.key',
      repeatedText,
    );
}
